import type postgres from "postgres"

/** Whether the background job has sent all events and mails about changed ids that are due. */
export const noticesAreSent = async (sql: postgres.Sql): Promise<boolean> => {
  const [row] = await sql<Array<{ sent: boolean }>>`
    select not exists (select from id_notice) and not exists (select from id_mail_turn where due_at <= now()) as sent`
  return row?.sent === true
}
