//! Neovim, as Debian has it, without a screen.

use std::process::Command;

use crate::folder;

const TEMPLATE: &str = "\
heat_template_version: rocky
resources:
  net: { type: OS::Neutron::Nett }
  vm:
    type: OS::Nova::Server
    depends_on: [net]
    properties: { flavor: a, image: b, networks: [{ network: x }] }
";

/// What is typed in Neovim, and what it then writes.
const SCRIPT: &str = r#"
local out = {}
local function finish(why)
  if why then table.insert(out, 'failed: ' .. why) end
  vim.fn.writefile(out, os.getenv('LOCUS_OUT'))
  vim.cmd('qall!')
end
local ok, why = pcall(function()
  local id = vim.lsp.start_client({
    name = 'locus',
    cmd = { os.getenv('LOCUS_EXE'), 'lsp' },
    root_dir = vim.fn.getcwd(),
    workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = 'test' } },
  })
  vim.cmd('edit a.yaml')
  vim.lsp.buf_attach_client(0, id)
  if not vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20) then
    error('no diagnostic')
  end
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(out, string.format('diagnostic %d:%d-%d:%d', d.lnum, d.col, d.end_lnum, d.end_col))
  end
  local function ask(method, params)
    local answers = vim.lsp.buf_request_sync(0, method, params, 30000)
    if not answers or not answers[id] or answers[id].err then error(method .. ' ' .. vim.inspect(answers)) end
    return answers[id].result
  end
  -- From the use to the definition.
  vim.api.nvim_win_set_cursor(0, { 6, 17 })
  local found = ask('textDocument/definition', vim.lsp.util.make_position_params(0, 'utf-16'))
  vim.lsp.util.jump_to_location(found[1], 'utf-16')
  local at = vim.api.nvim_win_get_cursor(0)
  table.insert(out, string.format('definition %d:%d', at[1] - 1, at[2]))
  local rename = vim.lsp.util.make_position_params(0, 'utf-16')
  rename.newName = 'lan'
  vim.lsp.util.apply_workspace_edit(ask('textDocument/rename', rename), 'utf-16')
  vim.list_extend(out, vim.api.nvim_buf_get_lines(0, 2, 3, false))
  vim.list_extend(out, vim.api.nvim_buf_get_lines(0, 5, 6, false))
  -- The first fix of the first finding.
  local range = { start = { line = 2, character = 0 }, ['end'] = { line = 2, character = 40 } }
  local actions = ask('textDocument/codeAction', {
    textDocument = vim.lsp.util.make_text_document_params(0),
    range = range,
    context = { diagnostics = {} },
  })
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
  vim.list_extend(out, vim.api.nvim_buf_get_lines(0, 2, 3, false))
end)
finish(not ok and tostring(why) or nil)
"#;

/// With the plugin alone: opening a file is all that is done.
const PLUGIN: &str = r#"
local out = {}
for _, name in ipairs({ 'a.yaml', 'm.als' }) do
  vim.cmd('edit ' .. name)
  vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(out, string.format('%s %s %d:%d', vim.bo.filetype, d.source, d.lnum, d.col))
  end
end
vim.fn.writefile(out, os.getenv('LOCUS_OUT'))
vim.cmd('qall!')
"#;

#[test]
fn the_plugin_starts_the_server_for_what_is_opened() {
    let model = "sig A {}\nfact { some Bee }\n";
    let files = [
        ("a.yaml", TEMPLATE),
        ("m.als", model),
        ("script.lua", PLUGIN),
        ("locus.toml", ""),
    ];
    let folder = folder(&files);
    let out = folder.path().join("out");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_locus"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let plugin = concat!(
        "set runtimepath+=",
        env!("CARGO_MANIFEST_DIR"),
        "/editors/neovim"
    );
    let run = Command::new("nvim")
        .args([
            "--headless",
            "-i",
            "NONE",
            "-n",
            "-u",
            "NORC",
            "--cmd",
            plugin,
        ])
        .args(["-c", "filetype on", "-c", "luafile script.lua"])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("LOCUS_OUT", &out)
        .env("HOME", folder.path())
        .output()
        .expect("Neovim is installed: `apt-get install neovim`");
    let said = String::from_utf8_lossy(&run.stderr);
    let out = std::fs::read_to_string(&out).unwrap_or_else(|_| panic!("{said}"));
    assert!(out.contains("yaml locus 2:15"), "{out}{said}");
    assert!(out.contains("alloy locus 1:12"), "{out}{said}");
}

#[test]
fn neovim_shows_jumps_renames_and_mends() {
    let folder = folder(&[("a.yaml", TEMPLATE), ("script.lua", SCRIPT)]);
    let out = folder.path().join("out");
    let run = Command::new("nvim")
        .args([
            "--headless",
            "-u",
            "NONE",
            "-i",
            "NONE",
            "-n",
            "-c",
            "luafile script.lua",
        ])
        .current_dir(folder.path())
        .env("LOCUS_EXE", env!("CARGO_BIN_EXE_locus"))
        .env("LOCUS_OUT", &out)
        .env("HOME", folder.path())
        .output()
        .expect("Neovim is installed: `apt-get install neovim`");
    let said = String::from_utf8_lossy(&run.stderr);
    let out = std::fs::read_to_string(&out).unwrap_or_else(|_| panic!("{said}"));
    let lines: Vec<&str> = out.lines().collect();
    let expected = [
        "diagnostic 2:15-2:32",
        "definition 2:2",
        "  lan: { type: OS::Neutron::Nett }",
        "    depends_on: [lan]",
        "  lan: { type: OS::Neutron::Net }",
    ];
    for line in expected {
        assert!(lines.contains(&line), "`{line}` is missing:\n{out}{said}");
    }
}
