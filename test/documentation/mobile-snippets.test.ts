/**
 * Compiles the snippets for apps in docs/migrating-from-radar.md with the SDKs that they call, where `.ci/mobile-tools`
 * has laid compilers and SDKs. Each compiler must also refuse a snippet with wrong names, so the tests can fail.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const { TEST_KOTLIN = '', TEST_SWIFT = '', TEST_DART = '', TEST_REACT_NATIVE_RADAR = '' } = process.env;
const repository = fileURLToPath(new URL('../..', import.meta.url));
const guide = readFileSync(join(repository, 'docs/migrating-from-radar.md'), 'utf8');
const host = 'https://fenceline.example.com';

/** Returns the code below a platform's name. */
function snippetOf(platform: string): string {
  const [, code] =
    new RegExp(`^\\*\\*${platform}\\*\\*[\\s\\S]*?\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``, 'm').exec(guide) ?? [];
  if (code === undefined) throw new Error(`the guide has no code for ${platform}`);
  return code;
}

/** Changes one word of a snippet, which must be there once. */
function withWrong(snippet: string, word: string, wrong: string): string {
  expect(snippet.split(word)).toHaveLength(2);
  return snippet.replace(word, wrong);
}

const folder = mkdtempSync(join(tmpdir(), 'fenceline-snippets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Runs a compiler in the folder. Returns the files that it found faults in, with everything that it printed. */
function compile(program: string, words: readonly string[], faults: RegExp) {
  const { error, stdout, stderr, status } = spawnSync(program, words, { cwd: folder, encoding: 'utf8' });
  if (error !== undefined) throw error;
  const printed = `${stdout}${stderr}`;
  const faulty = [...new Set(Array.from(printed.matchAll(faults), ([, file]) => file))];
  // A compiler that fails without a fault in a file has not compiled anything.
  if (status !== 0 && faulty.length === 0) throw new Error(printed);
  return { status, faulty, printed };
}

describe.skipIf(TEST_KOTLIN === '')('the snippet for Android', () => {
  const libraries = ['android', 'sdk', 'kotlin-stdlib'].map((name) => join(TEST_KOTLIN, 'libraries', `${name}.jar`));
  const java = (...words: string[]) =>
    compile('java', ['-XX:TieredStopAtLevel=1', '-Xshare:auto', ...words], /^(\S+\.kt):\d+:\d+: error/gm);
  const kotlin = (...words: string[]) =>
    java(
      ...['-cp', join(TEST_KOTLIN, 'compiler', '*'), 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler'],
      ...['-no-stdlib', '-no-reflect', '-nowarn', '-cp', libraries.join(':'), '-d', 'classes', ...words],
    );
  const application = (name: string, snippet: string): string => `
import android.app.Application
import android.content.Context
import io.radar.sdk.Radar

class ${name} : Application() {
  override fun onCreate() {
    super.onCreate()
    ${snippet}
  }
}`;

  it('compiles with the SDK, and the SDK reads the host that it sets', () => {
    const snippet = snippetOf('Android');
    const setting = snippet.split('\n').find((line) => line.includes('getSharedPreferences'));
    write({
      'App.kt': application('App', snippet),
      // The constructors of Android's classes throw outside Android, so none is called.
      'Phone.kt': `
import android.app.Application
import android.content.Context
import android.content.SharedPreferences
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
import java.lang.reflect.Proxy

val stores = HashMap<String, HashMap<String, Any?>>()

inline fun <reified T> proxy(crossinline answer: (name: String, values: Array<Any?>, proxy: Any) -> Any?): T =
  Proxy.newProxyInstance(T::class.java.classLoader, arrayOf(T::class.java)) { proxy, method, values ->
    answer(method.name, values ?: emptyArray(), proxy)
  } as T

class Phone : Application() {
  override fun getSharedPreferences(name: String, mode: Int): SharedPreferences {
    val store = stores.getOrPut(name) { HashMap() }
    return proxy<SharedPreferences> { call, values, _ ->
      when (call) {
        "getString" -> store[values[0]] ?: values[1]
        "edit" -> {
          val edited = HashMap<String, Any?>()
          proxy<SharedPreferences.Editor> { edit, entry, editor ->
            when (edit) {
              "putString" -> editor.also { edited[entry[0] as String] = entry[1] }
              "apply" -> store.putAll(edited)
              else -> throw UnsupportedOperationException(edit)
            }
          }
        }
        else -> throw UnsupportedOperationException(call)
      }
    }
  }
  fun setHost() {
    ${setting}
  }
}

fun main() {
  val unsafe = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe").apply { isAccessible = true }.get(null)
  val phone = (unsafe as sun.misc.Unsafe).allocateInstance(Phone::class.java) as Phone
  val settings = Class.forName("io.radar.sdk.RadarSettings")
  // Reflection would load the types of all methods, of which some are not there.
  val type = MethodType.methodType(String::class.java, Context::class.java)
  val host = MethodHandles.publicLookup().findVirtual(settings, "getHost\\$sdk_release", type)
    .bindTo(settings.getField("INSTANCE").get(null))
  println(host.invokeWithArguments(phone))
  phone.setHost()
  println(host.invokeWithArguments(phone))
}`,
    });
    expect(kotlin('App.kt', 'Phone.kt')).toMatchObject({ faulty: [], status: 0 });
    const { printed } = java('-cp', ['classes', ...libraries].join(':'), 'PhoneKt');
    expect(printed.trim().split('\n')).toEqual(['https://api.radar.io', host]);
  });

  it('is refused with a wrong name', () => {
    const wrong = withWrong(snippetOf('Android'), 'initialize(this, ', 'initialize(this, key = ');
    write({ 'WrongApp.kt': application('WrongApp', wrong) });
    expect(kotlin('WrongApp.kt').faulty).toEqual(['WrongApp.kt']);
  });
});

const swiftTypes: Readonly<Record<string, string>> = {
  NSString: 'String',
  RadarInitializeOptions: 'RadarInitializeOptions',
};

/**
 * Declares in Swift what a header of Objective-C offers to Swift by name. Swift on Linux cannot import Objective-C, so
 * this is the part of the import that is not the compiler's.
 */
function declarationsOf(header: string): string {
  const methods = Array.from(
    header.matchAll(/^\+ \(void\)([^;]*?) NS_SWIFT_NAME\((initialize)\(([\w:]+)\)\);$/gm),
    ([, selector = '', name, labels = '']) => {
      const types = Array.from(selector.matchAll(/\((\w+) ?\*(\s*_Nullable)?[^)]*\)/g), ([, type = '', nullable]) => {
        if (swiftTypes[type] === undefined) throw new Error(`no type of Swift for ${type}`);
        return `${swiftTypes[type]}${nullable === undefined ? '' : '?'}`;
      });
      const parameters = labels.split(':').filter((label) => label !== '');
      expect(parameters).toHaveLength(types.length);
      return `  static func ${name}(${parameters.map((label, index) => `${label}: ${types[index]}`).join(', ')}) {}`;
    },
  );
  return `class RadarInitializeOptions {}\nclass Radar {\n${methods.join('\n')}\n}\n`;
}

describe.skipIf(TEST_REACT_NATIVE_RADAR === '')('the snippet for iOS', () => {
  const frameworks = join(TEST_REACT_NATIVE_RADAR, 'ios/RadarSDK.xcframework');
  const simulator = join(frameworks, 'ios-arm64_x86_64-simulator/RadarSDK.framework');

  it.skipIf(TEST_SWIFT === '')('passes the type checker with the names of the SDK, and not with a wrong one', () => {
    const declarations = declarationsOf(readFileSync(join(simulator, 'Headers/Radar.h'), 'utf8'));
    expect(declarations).toContain('static func initialize(publishableKey: String, options: RadarInitializeOptions?)');
    const snippet = snippetOf('iOS');
    const method = (name: string, code: string): string => `import Foundation\nfunc ${name}() {\n${code}}\n`;
    write({
      'Radar.swift': declarations,
      'App.swift': method('app', snippet),
      'WrongKey.swift': method('wrongKey', withWrong(snippet, 'publishableKey:', 'key:')),
      'WrongSetting.swift': method('wrongSetting', withWrong(snippet, 'forKey:', 'key:')),
    });
    const names = ['Radar.swift', 'App.swift', 'WrongKey.swift', 'WrongSetting.swift'];
    const { faulty } = compile(join(TEST_SWIFT, 'typecheck'), names, /^(\S+\.swift):\d+:\d+: error/gm);
    expect(faulty.sort()).toEqual(['WrongKey.swift', 'WrongSetting.swift']);
  });

  it('sets a key that the SDK reads', () => {
    const [, key = ''] = /forKey: "([^"]+)"/.exec(snippetOf('iOS')) ?? [];
    const program = readFileSync(join(simulator, 'RadarSDK')).toString('latin1');
    // Swift keeps a short string in two words of 8 bytes: here operands of two instructions. The last byte counts.
    const words = (text: string): RegExp => {
      const end = `${text.slice(8).padEnd(7, '\0')}${String.fromCharCode(0xe0 + text.length)}`;
      return new RegExp(`${text.slice(0, 8)}[\\s\\S]{2}${end}`);
    };
    expect(key).toHaveLength(10);
    expect([key, 'radar-hose'].map((text) => words(text).test(program))).toEqual([true, false]);
  });
});

it.skipIf(TEST_DART === '')('the snippet for Flutter compiles with the declarations of the plugin', () => {
  const snippet = snippetOf('Flutter');
  const code = (body: string): string =>
    `import 'package:flutter_radar/flutter_radar.dart';\nvoid main() {\n${body}}\n`;
  const packages = [{ name: 'flutter_radar', rootUri: '../flutter_radar', packageUri: 'lib/', languageVersion: '3.0' }];
  write({
    '.dart_tool/package_config.json': JSON.stringify({ configVersion: 2, packages }),
    // From lib/flutter_radar.dart of flutter_radar 3.23.4: no registry of packages that CI reaches has the plugin.
    'flutter_radar/lib/flutter_radar.dart': `
class RadarInitializeOptions {}
class Radar {
  static Future initialize(String publishableKey, {RadarInitializeOptions? options}) async {}
}`,
    'app.dart': code(snippet),
    'wrong.dart': code(withWrong(snippet, 'initialize(', 'initialize(publishableKey: ')),
  });
  const dart = (file: string) =>
    compile(
      join(TEST_DART, 'compile'),
      ['--packages', '.dart_tool/package_config.json', '--output', 'app.dill', file],
      /^(\S+\.dart):\d+:\d+: Error/gm,
    );
  expect(dart('app.dart')).toMatchObject({ status: 0, faulty: [] });
  expect(dart('wrong.dart').faulty).toEqual(['wrong.dart']);
});

it.skipIf(TEST_REACT_NATIVE_RADAR === '')('the snippet for React Native compiles with the types of the package', () => {
  const snippet = snippetOf('React Native');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(TEST_REACT_NATIVE_RADAR, join(folder, 'node_modules/react-native-radar'));
  write({
    'app.ts': snippet,
    'wrong-method.ts': withWrong(snippet, 'Radar.initialize', 'Radar.initialise'),
    'wrong-type.ts': withWrong(snippet, "'prj_live_pk_…'", '4711'),
    'tsconfig.json': JSON.stringify({
      // The package names types of React Native, which are not there and which the snippet does not use.
      compilerOptions: { strict: true, noEmit: true, skipLibCheck: true, module: 'preserve', types: [] },
      include: ['*.ts'],
    }),
  });
  const { faulty } = compile(join(repository, 'node_modules/.bin/tsc'), ['-p', '.'], /^(\S+\.ts)\(\d+,\d+\): error/gm);
  expect(faulty.sort()).toEqual(['wrong-method.ts', 'wrong-type.ts']);
});

it('checks each platform of the guide', () => {
  const platforms = Array.from(guide.matchAll(/^\*\*([\w ]+):?\*\*[^\n]*\n(?:[^\n]+\n)*\n```/gm), ([, name]) => name);
  expect(platforms).toEqual(['Web', 'iOS', 'Android', 'React Native', 'Flutter']);
});
