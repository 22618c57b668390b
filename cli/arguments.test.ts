import { describe, expect, test } from 'vitest';
import { readArguments } from './arguments.js';
import { type CommandDescription, UsageError } from './command.js';

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
