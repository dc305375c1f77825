import type { View } from "../main.ts"
import { may } from "../platform/session.ts"
import { drawRegistered } from "./applications.ts"
import { drawData } from "./data.ts"
import { drawGranted } from "./granted-applications.ts"
import { drawInterests } from "./interests.ts"
import { drawKeys } from "./keys.ts"
import { drawAccountPages, type Group } from "./navigation.ts"
import { drawOrganizations } from "./organizations.ts"
import { drawPaymentMethods } from "./payment-methods.ts"
import { drawProfile } from "./profile.ts"
import { drawSecurity } from "./security.ts"
import { drawSecurityLog } from "./security-log.ts"
import { drawSessions } from "./sessions.ts"
import { drawStatistics } from "./statistics.ts"
import { drawStoredData } from "./stored-data.ts"

const registered: Group["pages"][string] = {
  label: "Registered applications",
  sign: "link",
  hint: "Sign-in for other sites",
  draw: drawRegistered,
}

const groups = (): ReadonlyArray<Group> => [
  {
    label: "You",
    pages: {
      profile: { label: "Profile", sign: "circle-user", hint: "Name, email, password", draw: drawProfile },
      payment: {
        label: "Payment methods",
        sign: "credit-card",
        hint: "Saved cards",
        draw: drawPaymentMethods,
      },
      interests: { label: "Watchlist", sign: "bell", hint: "Ids you wait for", draw: drawInterests },
      organizations: {
        label: "Organizations",
        sign: "building-2",
        hint: "Members and budgets",
        draw: drawOrganizations,
      },
    },
  },
  {
    label: "Security",
    pages: {
      security: { label: "Two-factor", sign: "shield", hint: "Codes when you sign in", draw: drawSecurity },
      sessions: { label: "Sessions", sign: "laptop", hint: "Devices, sign out", draw: drawSessions },
      applications: {
        label: "Applications",
        sign: "blocks",
        hint: "Access that you gave",
        draw: drawGranted,
      },
      log: {
        label: "Security log",
        sign: "history",
        hint: "What happened, and from where",
        draw: drawSecurityLog,
      },
    },
  },
  {
    label: "Your ids",
    pages: {
      statistics: {
        label: "Statistics",
        sign: "chart-column",
        hint: "How often they are looked up",
        draw: drawStatistics,
      },
      data: { label: "Stored data", sign: "database", hint: "What applications store", draw: drawStoredData },
    },
  },
  {
    label: "Developers",
    pages: {
      keys: { label: "API keys", sign: "key-round", hint: "Access for programs", draw: drawKeys },
      // Only operators may register applications.
      ...(may("organization:admin") ? { registered } : {}),
    },
  },
  {
    label: "Privacy",
    pages: {
      privacy: { label: "Your data", sign: "download", hint: "Download, delete account", draw: drawData },
    },
  },
]

export const draw: View["draw"] = (root, lifetime, rest) => drawAccountPages(root, groups(), lifetime, rest)
