/** The texts of the mails about accounts. Pure. */
import { type Mail, oneLine } from '../../outbound/mail/mail.js';
import type { ProjectRecord } from '../../schemas/json/project.js';

type Named = Pick<ProjectRecord, '_id' | 'name'>;

/**
 * Returns a link to the page that uses a token. The token follows `#`, so browsers keep it out of requests and logs.
 * @param project is the id of the project that the page then opens; undefined: the one that the reader chose last.
 */
export const accountLink = (publicUrl: string, purpose: string, token: string, project?: string): string =>
  `${publicUrl.replace(/\/+$/, '')}/account${project === undefined ? '' : `?project=${project}`}#${purpose}=${token}`;

const ending = (publicUrl: string): string =>
  `\nThis mail was sent by the Fenceline server at ${publicUrl}. If you did not expect it, ignore it.\n`;

/** Returns the mail with the link that resets a password. The link is valid for an hour. */
export const resetMail = (to: string, token: string, publicUrl: string): Mail => ({
  to,
  subject: 'Reset your Fenceline password',
  text:
    `To choose a new password, open this link within one hour:\n\n${accountLink(publicUrl, 'reset', token)}\n\n` +
    'It works once. Choosing a new password signs you out everywhere.\n' +
    ending(publicUrl),
});

/** Returns the mail with the link that accepts an invitation. The link is valid for seven days. */
export const invitationMail = (
  to: string,
  { project, role, token }: { readonly project: Named; readonly role: string; readonly token: string },
  publicUrl: string,
): Mail => ({
  to,
  subject: `Invitation to the Fenceline project ${oneLine(project.name)}`,
  text:
    `You are invited to the project "${oneLine(project.name)}" as ${role}.\n\n` +
    'To accept, open this link within seven days:\n\n' +
    `${accountLink(publicUrl, 'invitation', token, project._id)}\n\n` +
    'It works once.\n' +
    ending(publicUrl),
});

/** Returns the mail with the link that confirms a sign-up. The link is valid for an hour. */
export const confirmationMail = (to: string, token: string, publicUrl: string): Mail => ({
  to,
  subject: 'Confirm your Fenceline account',
  text:
    `To create your account, open this link within one hour:\n\n${accountLink(publicUrl, 'confirm', token)}\n\n` +
    'It works once.\n' +
    ending(publicUrl),
});

/**
 * Returns the mail for a sign-up with an address that has an account. The page shows the same in both cases, so that
 * nobody learns which addresses exist.
 */
export const alreadyRegisteredMail = (to: string, publicUrl: string): Mail => ({
  to,
  subject: 'Your Fenceline account',
  text:
    'Somebody, perhaps you, wanted to create an account with this address. It has one already: sign in, or reset ' +
    'the password.\n' +
    ending(publicUrl),
});
