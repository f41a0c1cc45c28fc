// The extension in an editor that records what it is asked for.
'use strict';

const assert = require('node:assert/strict');
const Module = require('node:module');
const test = require('node:test');

/** Loads the extension with stand-ins for the editor and for the client library. */
function load({ failing = false, uri = { scheme: 'file', path: '/p/a.py' } } = {}) {
  const said = { commands: {}, errors: [], pages: [], started: [], requests: [], stopped: 0 };
  const vscode = {
    ViewColumn: { Beside: -2 },
    commands: {
      registerCommand(name, run) {
        said.commands[name] = run;
        return { dispose() {} };
      },
    },
    workspace: {
      getConfiguration: () => ({ get: (key) => ({ path: '/opt/brief', clients: ['claude'] })[key] }),
      onDidChangeConfiguration(listener) {
        said.configured = listener;
        return { dispose() {} };
      },
      openTextDocument: async (page) => page,
    },
    window: {
      activeTextEditor: uri && { document: { uri } },
      showErrorMessage: async (message) => said.errors.push(message),
      showInformationMessage: async (message) => said.errors.push(message),
      showTextDocument: async (page) => said.pages.push(page.content),
    },
  };
  const State = { Stopped: 1, Running: 2 };
  class LanguageClient {
    constructor(id, name, server, client) {
      said.started.push({ server, client });
      this.state = State.Stopped;
      this.code2ProtocolConverter = { asUri: (value) => `file://${value.path}` };
    }
    async start() {
      if (failing) {
        throw new Error('not found');
      }
      this.state = State.Running;
    }
    async stop() {
      said.stopped += 1;
      this.state = State.Stopped;
    }
    async sendRequest(method, params) {
      said.requests.push([method, params]);
      return { path: 'a.py', clients: ['claude'], items: [], totals: {} };
    }
  }
  const original = Module._load;
  Module._load = (name, ...rest) => {
    const known = { vscode, 'vscode-languageclient/node': { LanguageClient, State } };
    return known[name] ?? original(name, ...rest);
  };
  try {
    const file = require.resolve('../src/extension');
    delete require.cache[file];
    return { extension: require(file), said };
  } finally {
    Module._load = original;
  }
}

test('it starts the server, and stops it', async () => {
  const { extension, said } = load();
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.deepEqual(Object.keys(said.commands).sort(), ['briefing.restart', 'briefing.sees']);
  assert.deepEqual(said.started[0].server.run, { command: '/opt/brief', args: ['lsp'] });
  assert.equal(context.subscriptions.length, 3);
  await said.commands['briefing.restart']();
  assert.equal(said.started.length, 2);
  said.configured({ affectsConfiguration: (key) => key === 'briefing.path' });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(said.started.length, 3);
  await extension.deactivate();
  assert.equal(said.stopped, 3);
});

test('it shows what clients see', async () => {
  const { extension, said } = load();
  await extension.activate({ subscriptions: [] });
  await said.commands['briefing.sees']();
  assert.deepEqual(said.requests, [['brief/sees', { textDocument: { uri: 'file:///p/a.py' }, clients: ['claude'] }]]);
  assert.match(said.pages[0], /^# a\.py/);
});

test('it says what is missing', async () => {
  const failing = load({ failing: true });
  await failing.extension.activate({ subscriptions: [] });
  assert.match(failing.said.errors[0], /`\/opt\/brief lsp` cannot be started: not found/);
  await failing.said.commands['briefing.sees']();
  assert.match(failing.said.errors[1], /not running/);
  const nothing = load({ uri: null });
  await nothing.extension.activate({ subscriptions: [] });
  nothing.said.errors.length = 0;
  await nothing.said.commands['briefing.sees']();
  assert.deepEqual([nothing.said.requests.length, nothing.said.errors], [0, ["Open a file of the project first."]]);
});
