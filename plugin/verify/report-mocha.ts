/**
 * A reporter for mocha, which has one at a time: it prints as `spec` does and writes what happened beside it, in jest's shape. It is
 * written into the folder of the run as a file of its own, since mocha must be the project's, found from where the tests run.
 */
export const MOCHA_REPORTER = `'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { createRequire } = require('node:module');
function projectMocha() {
  for (const from of [process.cwd() + path.sep, process.argv[1] || '', require.main ? require.main.filename : '']) {
    try { return createRequire(from)('mocha'); } catch {}
  }
  return require('mocha');
}
const Mocha = projectMocha();
const events = Mocha.Runner.constants;
class Beside extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const files = new Map();
    const add = (test, status, error) => {
      const name = test.file || (test.parent && test.parent.file) || '';
      if (!files.has(name)) files.set(name, []);
      const titles = test.titlePath ? test.titlePath() : [test.title];
      files.get(name).push({ ancestorTitles: titles.slice(0, -1), title: titles[titles.length - 1], status, failureMessages: error ? [String(error.stack || error.message || error)] : [] });
    };
    runner.on(events.EVENT_TEST_PASS, (test) => add(test, 'passed'));
    runner.on(events.EVENT_TEST_PENDING, (test) => add(test, 'pending'));
    runner.on(events.EVENT_TEST_FAIL, (test, error) => add(test, 'failed', error));
    runner.once(events.EVENT_RUN_END, () => {
      const testResults = [...files].map(([name, assertionResults]) => ({ name, status: assertionResults.some((one) => one.status === 'failed') ? 'failed' : 'passed', message: '', assertionResults }));
      fs.writeFileSync(options.reporterOptions.output, JSON.stringify({ testResults }));
    });
  }
}
module.exports = Beside;
`;
