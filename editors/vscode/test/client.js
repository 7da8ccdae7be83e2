// Speaks to `locus lsp` with the library that the extension speaks with, and writes what came of it as JSON.
//
//   node client.js LOCUS FOLDER
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const lsp = require("vscode-languageserver-protocol/node");

async function main(program, folder) {
  const child = spawn(program, ["lsp"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const connection = lsp.createProtocolConnection(
    new lsp.StreamMessageReader(child.stdout),
    new lsp.StreamMessageWriter(child.stdin),
  );
  const uri = pathToFileURL(path.join(folder, "a.yaml")).href;
  const text = fs.readFileSync(path.join(folder, "a.yaml"), "utf8");
  const found = new Promise((resolve) => {
    connection.onNotification(lsp.PublishDiagnosticsNotification.type, (said) => {
      if (said.uri === uri && said.diagnostics.length > 0) resolve(said.diagnostics);
    });
  });
  connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, () => {});
  connection.onRequest(lsp.RegistrationRequest.type, () => {});
  connection.listen();
  const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "test" }],
    capabilities: {
      textDocument: {
        codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } },
        publishDiagnostics: { relatedInformation: true },
      },
      window: { workDoneProgress: true },
      workspace: { didChangeWatchedFiles: { dynamicRegistration: true } },
    },
  });
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: lsp.TextDocumentItem.create(uri, "yaml", 1, text),
  });
  const diagnostics = await found;
  const textDocument = { uri };
  const lines = text.split("\n");
  const at = (word, from) => {
    const line = lines.findIndex((one, number) => number >= from && one.includes(word));
    return { line, character: lines[line].indexOf(word) };
  };
  const use = at("[net]", 0);
  const position = { line: use.line, character: use.character + 1 };
  const range = diagnostics[0].range;
  const result = {
    sync: capabilities.textDocumentSync.change,
    diagnostics: diagnostics.map((one) => ({ ...one.range.start, code: one.code })),
    definition: await connection.sendRequest(lsp.DefinitionRequest.type, { textDocument, position }),
    rename: await connection.sendRequest(lsp.RenameRequest.type, {
      textDocument,
      position,
      newName: "lan",
    }),
    actions: await connection.sendRequest(lsp.CodeActionRequest.type, {
      textDocument,
      range,
      context: { diagnostics },
    }),
    hover: await connection.sendRequest(lsp.HoverRequest.type, { textDocument, position }),
    completion: await connection.sendRequest(lsp.CompletionRequest.type, {
      textDocument,
      position: at("OS::Nova", 0),
    }),
    tokens: await connection.sendRequest(lsp.SemanticTokensRequest.type, { textDocument }),
    graph: await connection.sendRequest(lsp.ExecuteCommandRequest.type, {
      command: "locus.graph",
      arguments: [uri],
    }),
  };
  await connection.sendRequest(lsp.ShutdownRequest.type);
  await connection.sendNotification(lsp.ExitNotification.type);
  result.exit = await ended;
  connection.dispose();
  process.stdout.write(JSON.stringify(result));
}

main(process.argv[2], process.argv[3]).catch((error) => {
  console.error(error);
  process.exit(1);
});
