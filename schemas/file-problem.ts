const problems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'it exists already',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'the quota of its disk is used up',
};

/** Returns why the system refused a file or a folder, without its path; the message of the error for rare codes. */
export const fileProblem = (error: unknown): string => {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  // The folders above are there, as in /proc.
  if (code === 'ENOENT' && syscall === 'mkdir') return 'the system refuses to create it';
  return problems[code ?? ''] ?? message;
};
