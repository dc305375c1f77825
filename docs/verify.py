"""Verifies an answer of the Emoji Id Directory, as docs/verification.md says. Needs Debian's python3-cryptography."""
import base64, hashlib, json, re, sys, time
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def check(is_true, code):
    if not is_true: raise ValueError(code)
def unbase64(text): return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
def blake(data): return hashlib.blake2b(data, digest_size=32).digest()
def signed(key, message, signature):
    try: return Ed25519PublicKey.from_public_bytes(key).verify(signature, message) is None
    except (InvalidSignature, ValueError): return False
def canonical(value):
    if isinstance(value, list): return "[" + ",".join(map(canonical, value)) + "]"
    if not isinstance(value, dict): return json.dumps(value, ensure_ascii=False)
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
def folded(text):
    bare = re.sub("[\ufe0f\U0001f3fb-\U0001f3ff]", "", text).replace("\U0001faf1\u200d\U0001faf2", "\U0001f91d")
    return re.sub("[🩷🧡💛💚💙🩵💜🤎🖤🩶🤍]", "\u2764", bare)
def root(records):
    level = []
    for tag, data in ((int(record["tag"], 16), record["data"]) for record in records):
        end = len(data) if tag in (0x0101, 0x0103) else 40 if tag == 0x1004 else 0
        level.append(blake(tag.to_bytes(2, "little") + bytes.fromhex(data[:end]) + data[end:].encode()))
    level = sorted(level) or [blake(b"")]
    while len(level) > 1:
        level = [blake(b"".join(level[i:i + 2])) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return level[0]

def verify(document, answer, emoji_id, request, at_least=0, now=None):
    now = now or time.time()
    try:
        head, body, signature = answer["proof"].split(".")
        header, claims, signature = json.loads(unbase64(head)), json.loads(unbase64(body)), unbase64(signature)
        assert header["alg"] == "EdDSA" and header["typ"] == "emoji-id-proof" and "crit" not in header
    except (AssertionError, AttributeError, KeyError, ValueError): raise ValueError("malformed") from None
    key = next((key for key in document["keys"] if key["kid"] == header.get("kid")), None)
    check(key, "unknown_key")
    check(signed(unbase64(key["x"]), f"{head}.{body}".encode(), signature), "bad_signature")
    check(claims["origin"] == document["origin"], "wrong_origin")
    check({folded(emoji_id), folded(answer.get("emoji_id", emoji_id))} == {folded(claims["emoji_id"])}, "wrong_id")
    check(claims["iat"] <= now + 60 and now < claims["exp"] and key["not_before"] <= claims["iat"], "expired")
    check(key["not_after"] is None or claims["exp"] <= key["not_after"], "expired")
    check(claims["version"] >= at_least, "old_version")
    if not claims["registered"]:
        denies = answer.get("status") is not True and "address" not in answer and answer.get("result", []) == []
        return check(denies, "altered_answer") or claims
    check(claims["request"] == request, "wrong_request")
    content = {name: answer[name] for name in answer if name not in ("proof", "stats", "emoji_id", "request_id")}
    check(hashlib.sha256(canonical(content).encode()).digest() == unbase64(claims["answer"]), "altered_answer")
    records_root, owner = bytes.fromhex(claims["records_root"]), bytes.fromhex(claims["owner"] or "")
    check(request not in (["lookup"], ["live"]) or root(answer["result"]) == records_root, "altered_records")
    if "owner_signature" in claims:
        check(signed(owner, records_root, bytes.fromhex(claims["owner_signature"])), "bad_owner_signature")
    return claims

if __name__ == "__main__":  # stdin: {"document", "answer", "emoji_id", "request", "at_least"}
    print(json.dumps(verify(**json.load(sys.stdin))))
