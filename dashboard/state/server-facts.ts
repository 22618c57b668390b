/** What the server writes into the page about itself. */

const factOf = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

/** Whether people may create accounts and projects. */
export const isSignUpOn = factOf('sign-up') === 'on';

/** Whether mails reach people. Without a mail server they are files in the outbox folder. */
export const areMailsSent = factOf('mail') === 'sent';
