/** Topics of invalidation. Each is published by every commit that changes what its cache entries were made of. */

/** Keys are user ids: who a user is and what they may do. */
export const userTopic = "user"

/** Keys are user ids: what GET /account answers. */
export const accountTopic = "account"
