import { openDialog } from "../parts/dialog.ts"
import { h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { copyButton } from "./copy.ts"
import type { CheckedProof } from "./signed-answer.ts"

type Fact = readonly [name: string, value: string, isCode?: boolean]

const registeredFacts = ({ isSignedByOwner, owner, recordsRoot, version }: CheckedProof["facts"]) => {
  const facts: ReadonlyArray<Fact> = [
    ["Version", String(version)],
    ["Root of all records", recordsRoot ?? "", true],
    ["Key of the owner", owner ?? "None", owner !== null],
    [
      "Owner's own signature",
      isSignedByOwner
        ? "Valid. The owner has signed these records with this key."
        : "None. The owner has not signed these records, so only the service vouches for them.",
    ],
  ]
  return facts
}

const factList = ({ facts }: CheckedProof) => {
  const shown: ReadonlyArray<Fact> = [
    ["Service", facts.origin],
    ["Emoji id", facts.emojiId],
    ...(facts.registered ? registeredFacts(facts) : []),
    ["Signed", when(facts.issuedAt.toISOString())],
    ["Valid until", when(facts.expiresAt.toISOString())],
    ["Key of the service", facts.keyId, true],
  ]
  return h(
    "dl",
    { class: "proof-facts" },
    shown.map(([name, value, isCode]) => [
      h("dt", {}, name),
      h("dd", {}, isCode === true ? h("code", {}, value) : value),
    ]),
  )
}

/** Shows in a dialog what the service has signed, and the proof itself. */
export const showProof = (proof: CheckedProof): void => {
  const jws = h("code", {}, proof.jws)
  const end = openDialog(
    {
      title: "Signed answer",
      submit: (event) => {
        event.preventDefault()
        end()
      },
      cancel: () => end(),
    },
    h(
      "p",
      {},
      proof.facts.registered
        ? "The service has signed the records, addresses, networks and memos that this page shows. Your browser has checked the signatures, so nothing on the way has changed them."
        : "The service has signed that this id is not registered. Your browser has checked the signature, so nothing on the way has removed any records.",
    ),
    factList(proof),
    h(
      "div",
      { class: "spread proof-head" },
      h("h3", {}, "The proof (JWS)"),
      copyButton({ what: "proof", shown: jws, doubt: () => undefined }),
    ),
    // The text can be scrolled with the keyboard.
    h("pre", { class: "proof-text", tabindex: "0", role: "group", "aria-label": "The proof" }, jws),
    h(
      "p",
      { class: "soft small" },
      "This page and the keys come from the same service. For an independent check, verify the proof with keys that you stored before: ",
      h("a", { href: "/docs/verification", target: "_blank", rel: "noopener" }, "Verify an answer"),
      " explains how.",
    ),
    h("div", { class: "row middle" }, h("button", { class: "plain" }, "Close")),
  )
}
