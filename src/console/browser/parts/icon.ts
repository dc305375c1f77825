/** The icons of the console, from the package lucide-static. An icon that is not listed here is not bundled. */

import arrowLeft from "lucide-static/icons/arrow-left.svg"
import arrowLeftRight from "lucide-static/icons/arrow-left-right.svg"
import arrowRight from "lucide-static/icons/arrow-right.svg"
import bell from "lucide-static/icons/bell.svg"
import blocks from "lucide-static/icons/blocks.svg"
import building2 from "lucide-static/icons/building-2.svg"
import chartColumn from "lucide-static/icons/chart-column.svg"
import check from "lucide-static/icons/check.svg"
import chevronDown from "lucide-static/icons/chevron-down.svg"
import chevronRight from "lucide-static/icons/chevron-right.svg"
import circleAlert from "lucide-static/icons/circle-alert.svg"
import circleCheck from "lucide-static/icons/circle-check.svg"
import circleUser from "lucide-static/icons/circle-user.svg"
import clock from "lucide-static/icons/clock.svg"
import copy from "lucide-static/icons/copy.svg"
import creditCard from "lucide-static/icons/credit-card.svg"
import database from "lucide-static/icons/database.svg"
import deleteBack from "lucide-static/icons/delete.svg"
import download from "lucide-static/icons/download.svg"
import externalLink from "lucide-static/icons/external-link.svg"
import gift from "lucide-static/icons/gift.svg"
import history from "lucide-static/icons/history.svg"
import idCard from "lucide-static/icons/id-card.svg"
import info from "lucide-static/icons/info.svg"
import keyRound from "lucide-static/icons/key-round.svg"
import laptop from "lucide-static/icons/laptop.svg"
import link from "lucide-static/icons/link.svg"
import lock from "lucide-static/icons/lock.svg"
import logIn from "lucide-static/icons/log-in.svg"
import logOut from "lucide-static/icons/log-out.svg"
import mail from "lucide-static/icons/mail.svg"
import packageOpen from "lucide-static/icons/package-open.svg"
import pencil from "lucide-static/icons/pencil.svg"
import plus from "lucide-static/icons/plus.svg"
import qrCode from "lucide-static/icons/qr-code.svg"
import refreshCw from "lucide-static/icons/refresh-cw.svg"
import search from "lucide-static/icons/search.svg"
import share2 from "lucide-static/icons/share-2.svg"
import shield from "lucide-static/icons/shield.svg"
import shieldAlert from "lucide-static/icons/shield-alert.svg"
import shieldCheck from "lucide-static/icons/shield-check.svg"
import shieldOff from "lucide-static/icons/shield-off.svg"
import shoppingCart from "lucide-static/icons/shopping-cart.svg"
import smile from "lucide-static/icons/smile.svg"
import store from "lucide-static/icons/store.svg"
import tag from "lucide-static/icons/tag.svg"
import trash2 from "lucide-static/icons/trash-2.svg"
import triangleAlert from "lucide-static/icons/triangle-alert.svg"
import wifiOff from "lucide-static/icons/wifi-off.svg"
import x from "lucide-static/icons/x.svg"

const sources = {
  "arrow-left": arrowLeft,
  "arrow-left-right": arrowLeftRight,
  "arrow-right": arrowRight,
  bell,
  blocks,
  "building-2": building2,
  "chart-column": chartColumn,
  check,
  "chevron-down": chevronDown,
  "chevron-right": chevronRight,
  "circle-alert": circleAlert,
  "circle-check": circleCheck,
  "circle-user": circleUser,
  clock,
  copy,
  "credit-card": creditCard,
  database,
  delete: deleteBack,
  download,
  "external-link": externalLink,
  gift,
  history,
  "id-card": idCard,
  info,
  "key-round": keyRound,
  laptop,
  link,
  lock,
  "log-in": logIn,
  "log-out": logOut,
  mail,
  "package-open": packageOpen,
  pencil,
  plus,
  "qr-code": qrCode,
  "refresh-cw": refreshCw,
  search,
  "share-2": share2,
  shield,
  "shield-alert": shieldAlert,
  "shield-check": shieldCheck,
  "shield-off": shieldOff,
  "shopping-cart": shoppingCart,
  smile,
  store,
  tag,
  "trash-2": trash2,
  "triangle-alert": triangleAlert,
  "wifi-off": wifiOff,
  x,
}

export type IconName = keyof typeof sources

const parser = new DOMParser()

/** Returns an icon. Screen readers ignore it, so the element that contains it needs a text or a label. */
export const icon = (name: IconName): Element => {
  // The spaces between the elements would become a part of the text of a button or link.
  const source = sources[name].replaceAll(/>\s+</g, "><")
  const { documentElement } = parser.parseFromString(source, "image/svg+xml")
  documentElement.setAttribute("class", "icon")
  documentElement.setAttribute("aria-hidden", "true")
  return document.importNode(documentElement, true)
}

/** Returns an icon that stands before the label of a button. */
export const leadingIcon = (name: IconName): Element => {
  const made = icon(name)
  made.classList.add("leading")
  return made
}
