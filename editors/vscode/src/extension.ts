import * as vscode from "vscode";
import { Executable, LanguageClient, LanguageClientOptions } from "vscode-languageclient/node";

/** Where the pages of rules are: served below from what the program knows. */
const PAGES = "locus:/rules/";

let client: LanguageClient | undefined;

/** What the server answers to `locus.checkAllInputs`. */
interface AllInputs {
  deployable: boolean;
  findings: { uri: string; diagnostics: { message: string }[] }[];
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider("locus", {
      async provideTextDocumentContent(uri) {
        const rule = uri.path.replace(/^.*\//, "").replace(/\.md$/, "");
        return (await execute<string>("locus.explain", rule)) ?? `There is no rule ${rule}.`;
      },
    }),
    vscode.commands.registerCommand("locus.showGraph", showGraph),
    vscode.commands.registerCommand("locus.showAllInputs", () => showAllInputs()),
    vscode.commands.registerCommand("locus.restart", async () => {
      await client?.stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("locus")) {
        await client?.stop();
        await start();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("locus");
  const command = settings.get<string>("path") || "locus";
  const server: Executable = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "yaml" },
      { language: "dockercompose" },
      { language: "alloy" },
      { pattern: "**/*.template" },
      { pattern: "**/locus.toml" },
    ],
    initializationOptions: {
      documentation: PAGES,
      allInputs: settings.get<boolean>("allInputs") ?? false,
    },
    middleware: {
      // Answers of commands are for people: they are shown, not thrown away.
      async executeCommand(name, args, next) {
        const answer: unknown = await next(name, args);
        if (name === "locus.run" && typeof answer === "string") {
          await show(answer, "plaintext");
        } else if (name === "locus.checkAllInputs") {
          await report(answer as AllInputs);
        } else if (name === "locus.instance") {
          // The page brings its own script and lets in no other.
          view("locus.instance", "Instances", (answer as { html: string }).html, true);
        }
        return answer;
      },
    },
  };
  client = new LanguageClient("locus", "Locus", server, options);
  try {
    await client.start();
  } catch (error) {
    const open = "Open the settings";
    const chosen = await vscode.window.showErrorMessage(
      `Locus: cannot start \`${command}\`: ${String(error)}. Install \`locus\`, or set \`locus.path\`.`,
      open,
    );
    if (chosen === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "locus.path");
    }
  }
}

async function execute<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
  const answer: unknown = await client?.sendRequest("workspace/executeCommand", {
    command,
    arguments: args,
  });
  return (answer ?? undefined) as T | undefined;
}

function current(): string | undefined {
  return vscode.window.activeTextEditor?.document.uri.toString();
}

async function show(content: string, language: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content, language });
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
}

async function showGraph(): Promise<void> {
  const uri = current();
  const answer = uri && (await execute<{ svg: string }>("locus.graph", uri));
  if (!answer) {
    void vscode.window.showInformationMessage("Locus: this is not a configuration.");
    return;
  }
  // Nothing but the picture is let in: it is made from the names in a file.
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  const page =
    `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="${policy}"></head>` +
    `<body style="background:#fff">${answer.svg.replace(/^<\?xml[^>]*\?>/, "")}</body></html>`;
  view("locus.graph", "Location graph", page, false);
}

/** Shows a page beside the text. */
function view(kind: string, title: string, html: string, enableScripts: boolean): void {
  const beside = vscode.ViewColumn.Beside;
  const panel = vscode.window.createWebviewPanel(kind, title, beside, { enableScripts });
  panel.webview.html = html;
}

async function showAllInputs(): Promise<void> {
  const uri = current();
  const answer = uri && (await execute<AllInputs>("locus.checkAllInputs", uri));
  if (answer) {
    await report(answer);
  }
}

async function report(answer: AllInputs): Promise<void> {
  const all = answer.findings.flatMap((file) => file.diagnostics.map((said) => said.message));
  if (all.length === 0) {
    void vscode.window.showInformationMessage("Locus: nothing is wrong for any allowed input.");
  } else {
    await show(all.join("\n\n"), "plaintext");
  }
}
