/** Topics of cache invalidation. Every commit that changes the source data of a cache publishes to its topic. */

/** Keys are user ids. Entries hold the identity and the permissions of a user. */
export const userTopic = "user"

/** Keys are user ids. Entries hold the response of GET /account, or the user in it. */
export const accountTopic = "account"
