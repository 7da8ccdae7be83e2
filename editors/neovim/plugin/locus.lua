-- For any Neovim from 0.7: knows models by their names, and before 0.11 starts one server for each folder of configurations.
vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
  pattern = '*.als',
  callback = function()
    vim.bo.filetype = 'alloy'
  end,
})

if vim.fn.has('nvim-0.11') == 1 then
  return
end

local clients = {}

vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'yaml', 'yaml.docker-compose', 'alloy' },
  callback = function(args)
    local name = vim.api.nvim_buf_get_name(args.buf)
    if name == '' or vim.fn.executable('locus') == 0 then
      return
    end
    local start = vim.fn.fnamemodify(name, ':p:h')
    local found = vim.fn.findfile('locus.toml', start .. ';')
    if found == '' then
      found = vim.fn.finddir('.git', start .. ';')
    end
    local root = found == '' and start or vim.fn.fnamemodify(found, ':p:s?/$??:h')
    if not clients[root] then
      clients[root] = vim.lsp.start_client({
        name = 'locus',
        cmd = { 'locus', 'lsp' },
        root_dir = root,
        workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
        on_exit = function()
          clients[root] = nil
        end,
      })
    end
    if clients[root] then
      vim.lsp.buf_attach_client(args.buf, clients[root])
    end
  end,
})
