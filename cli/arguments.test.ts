import { describe, expect, test } from 'vitest';
import { readArguments } from './arguments.js';
import { type CommandDescription, UsageError } from './command.js';
import { descriptions } from './descriptions.js';

const description: CommandDescription = {
  summary: 'Tests.',
  usage: ['test'],
  options: {
    from: { type: 'string', value: 'TIME', help: 'Start.' },
    output: { type: 'string', short: 'o', value: 'FILE', help: 'File.' },
    compare: { type: 'boolean', help: 'Compare.' },
  },
  examples: [],
};
const read = (...args: string[]) => readArguments('test', description, args);

describe('the arguments of a command', () => {
  test('are values of its options', () => {
    expect(read('--from', 'today', '-o', 'x.png', '--compare')).toEqual({
      values: { from: 'today', output: 'x.png', compare: true },
      words: [],
      wantsHelp: false,
    });
  });

  test('may be relative times', () => {
    expect(read('--from', '-2h').values).toEqual({ from: '-2h' });
    expect(read('--from=-2h').values).toEqual({ from: '-2h' });
  });

  test.each(['-h', '--help'])('may ask for help by %s', (option) => {
    expect(read('--compare', option).wantsHelp).toBe(true);
  });

  test.each([
    [['--form', 'x'], 'unknown option --form; did you mean --from?'],
    [['--comapre'], 'unknown option --comapre; did you mean --compare?'],
    [['--nothing-like-it'], 'unknown option --nothing-like-it'],
    [['-x'], 'unknown option -x'],
    [['--from'], '--from needs a value'],
    [['--from='], '--from needs a value'],
    [['--from', '--compare'], '--from needs a value; write --from=--compare if that is the value'],
    [['--compare=yes'], '--compare takes no value'],
    // The last one won, silently.
    [['--from', '-2h', '--from', '-1h'], '--from is given twice'],
    [['word'], 'test takes only options, not word'],
    [['--toString'], 'unknown option --toString'],
  ])('are refused: %j', (args, message) => {
    expect(() => read(...args)).toThrow(new UsageError(message));
  });

  test('may contain words where the command takes some', () => {
    const { words } = readArguments('test', { ...description, takesArguments: true }, ['create', 'Shop', '--compare']);
    expect(words).toEqual(['create', 'Shop']);
  });
});

// 'project list --environment live' listed all environments, and 'migrate radar FOLDER --from -1h' copied everything.
test('an option of another form is refused, and may stand before the word', () => {
  const forms: CommandDescription = {
    ...description,
    takesArguments: true,
    options: { kind: { type: 'string', value: 'KIND', help: 'Kind.', form: 'rotate' } },
  };
  for (const args of [
    ['list', '--kind', 'secret'],
    ['--kind', 'secret', 'list'],
  ])
    expect(() => readArguments('test', forms, args)).toThrow(
      new UsageError('--kind is an option of "test rotate" only'),
    );
  expect(readArguments('test', forms, ['--kind', 'secret', 'rotate']).values).toEqual({ kind: 'secret' });
});

test('each option of one form names a form of its command', () => {
  const wrong = Object.entries<CommandDescription>(descriptions).flatMap(([name, { usage, options }]) =>
    Object.entries(options)
      .filter(([, { form }]) => form !== undefined && !usage.some((each) => each.startsWith(`${name} ${form}`)))
      .map(([option]) => `${name} --${option}`),
  );
  expect(wrong).toEqual([]);
});
