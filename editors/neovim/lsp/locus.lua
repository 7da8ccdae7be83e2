-- For Neovim 0.11 and later: put this folder on the runtime path, then `vim.lsp.enable('locus')`.
return {
  cmd = { 'locus', 'lsp' },
  filetypes = { 'yaml', 'yaml.docker-compose', 'alloy' },
  root_markers = { 'locus.toml', '.git' },
}
