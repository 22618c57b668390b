/** Links of mails and of the first start name a purpose and a token after `#`, which never reaches a log. */

export interface Purpose {
  readonly kind: 'signin' | 'invitation' | 'reset' | 'confirm';
  readonly token: string;
}

const kinds: readonly string[] = ['signin', 'invitation', 'reset', 'confirm'];

/** Returns the purpose in the address and removes it from there, where others could read it. */
export function readPurpose(): Purpose | undefined {
  const [, kind = '', token = ''] = /^#(\w+)=(\S+)$/.exec(location.hash) ?? [];
  if (!kinds.includes(kind)) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  return { kind: kind as Purpose['kind'], token };
}
