// Takes a picture of the first page of a Chromium that can be debugged.
//
//   node --experimental-websocket screen.js PROFILE PICTURE
"use strict";

const fs = require("node:fs");

async function main(profile, picture) {
  const [port] = fs.readFileSync(`${profile}/DevToolsActivePort`, "utf8").split("\n");
  const pages = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const page = pages.find((one) => one.type === "page");
  const socket = new WebSocket(page.webSocketDebuggerUrl);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const answer = new Promise((resolve) => socket.addEventListener("message", (message) => resolve(JSON.parse(message.data))));
  socket.send(JSON.stringify({ id: 1, method: "Page.captureScreenshot", params: { format: "png" } }));
  fs.writeFileSync(picture, Buffer.from((await answer).result.data, "base64"));
  socket.close();
}

main(process.argv[2], process.argv[3]).catch((error) => {
  console.error(error);
  process.exit(1);
});
