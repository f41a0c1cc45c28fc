// Starts `brief lsp` and shows what clients see. Everything else is the server's.
'use strict';

const vscode = require('vscode');
const { LanguageClient, State } = require('vscode-languageclient/node');
const { serverOptions, documentSelector, seesPage } = require('./server');

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration('briefing');
  const options = serverOptions(settings.get('path'));
  client = new LanguageClient('briefing', 'Briefing', { run: options, debug: options }, { documentSelector: documentSelector() });
  try {
    await client.start();
  } catch (error) {
    const message = `\`${options.command} lsp\` cannot be started: ${error.message ?? error}. Set \`briefing.path\`.`;
    await vscode.window.showErrorMessage(message);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.state !== State.Stopped) {
    await running.stop();
  }
}

async function showSees() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.scheme !== 'file') {
    await vscode.window.showInformationMessage('Open a file of the project first.');
    return;
  }
  if (!client || client.state !== State.Running) {
    await vscode.window.showErrorMessage('The language server is not running. Set `briefing.path`, then restart it.');
    return;
  }
  const clients = vscode.workspace.getConfiguration('briefing').get('clients') ?? [];
  const textDocument = { uri: client.code2ProtocolConverter.asUri(editor.document.uri) };
  try {
    const answer = await client.sendRequest('brief/sees', { textDocument, clients });
    const page = await vscode.workspace.openTextDocument({ language: 'markdown', content: seesPage(answer) });
    await vscode.window.showTextDocument(page, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  } catch (error) {
    await vscode.window.showErrorMessage(`brief: ${error.message ?? error}`);
  }
}

async function activate(context) {
  const commands = { 'briefing.sees': showSees, 'briefing.restart': () => stop().then(start) };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('briefing.path')) {
        void stop().then(start);
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
