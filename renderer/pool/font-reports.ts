/** Reports each package of fonts that a map needs and that is not installed, once. */

/** Returns a function that reports the missing packages of a map. */
export function createFontReports(report: (problem: string) => void): (packages: readonly string[]) => void {
  const reported = new Set<string>();
  return (packages) => {
    for (const name of packages) {
      if (reported.has(name)) continue;
      reported.add(name);
      report(
        `names in one script are left out of maps or shown in Latin letters, because ${name} is not installed; ` +
          `install it with "npm install ${name}" and restart`,
      );
    }
  };
}
