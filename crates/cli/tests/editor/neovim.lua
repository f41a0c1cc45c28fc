-- Drives `brief lsp` as a user would: opens a file, reads its problems, types, fixes, hovers, renames.
-- Prints one JSON object; the test `lsp::neovim_*` asserts on it.

local found = {}

local function wait(condition, what)
  if not vim.wait(20000, condition, 10) then
    found.failed = found.failed or what
  end
end

local function problems()
  local shown = {}
  for _, problem in ipairs(vim.diagnostic.get(0)) do
    table.insert(shown, string.format('%d:%d-%d:%d %s', problem.lnum, problem.col, problem.end_lnum, problem.end_col, problem.code))
  end
  table.sort(shown)
  return shown
end

local function has(code)
  return function()
    for _, problem in ipairs(vim.diagnostic.get(0)) do
      if problem.code == code then
        return true
      end
    end
    return false
  end
end

vim.cmd('edit AGENTS.yaml')
local id = vim.lsp.start_client({ name = 'brief', cmd = { os.getenv('BRIEF'), 'lsp' }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, id)
local client = vim.lsp.get_client_by_id(id)

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000)
  local answer = answers and answers[id] or {}
  return answer.result
end

wait(has('agents-yaml/unknown-field'), 'the first problems')
found.opened = problems()

-- The fix of the misspelled key.
local params = vim.lsp.util.make_given_range_params({ 2, 0 }, { 2, 20 })
params.context = { diagnostics = {} }
local actions = ask('textDocument/codeAction', params) or {}
found.actions = vim.tbl_map(function(action) return action.title end, actions)
if actions[1] then
  vim.lsp.util.apply_workspace_edit(actions[1].edit, client.offset_encoding)
end
found.fixed = vim.api.nvim_buf_get_lines(0, 1, 2, false)[1]
wait(function() return #vim.diagnostic.get(0) == 0 end, 'no problems after the fix')

-- Who gets the entry.
vim.api.nvim_win_set_cursor(0, { 2, 6 })
local hover = ask('textDocument/hover', vim.lsp.util.make_position_params()) or {}
found.hover = hover.contents and hover.contents.value
local lenses = ask('textDocument/codeLens', { textDocument = vim.lsp.util.make_text_document_params() }) or {}
found.lens = lenses[1] and lenses[1].command.title

-- Typing, key by key: a pattern that matches nothing, behind a character of two UTF-16 units.
vim.api.nvim_buf_set_lines(0, 2, 3, false, { '    match: ["🦀", "**/*.py"]' })
wait(has('agents-yaml/unused-pattern'), 'the dead pattern')
found.typed = problems()

-- Another name for a skill: its directory, its header and the links to it.
vim.o.hidden = true
vim.cmd('edit .claude/skills/pdf/SKILL.md')
vim.lsp.buf_attach_client(0, id)
vim.api.nvim_win_set_cursor(0, { 2, 7 })
local position = vim.lsp.util.make_position_params()
local prepared = ask('textDocument/prepareRename', position) or {}
found.placeholder = prepared.placeholder
position.newName = 'forms'
local edit = ask('textDocument/rename', position)
found.renames = edit and #edit.documentChanges
if edit then
  -- This version of Neovim renames files, and no directories.
  local renamed = table.remove(edit.documentChanges)
  vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding)
  for _, name in ipairs({ 'SKILL.md', 'CLAUDE.md' }) do
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_get_name(buffer):sub(-#name) == name then
        vim.api.nvim_buf_call(buffer, function() vim.cmd('silent! write!') end)
      end
    end
  end
  vim.fn.rename(vim.uri_to_fname(renamed.oldUri), vim.uri_to_fname(renamed.newUri))
end
found.header = vim.fn.filereadable('.claude/skills/forms/SKILL.md') == 1 and vim.fn.readfile('.claude/skills/forms/SKILL.md')[2]
found.link = vim.fn.readfile('CLAUDE.md')[1]

-- Who sees a file.
local sees = ask('brief/sees', { textDocument = { uri = vim.uri_from_fname(vim.fn.getcwd() .. '/b.py') }, clients = { 'claude' } }) or {}
found.sees = sees.items and #sees.items

-- The file on disk is as it was.
found.disk = table.concat(vim.fn.readfile('AGENTS.yaml'), '\n')

client.stop()
wait(function() return client.is_stopped() end, 'the end of the server')
io.stdout:write(vim.fn.json_encode(found))
vim.cmd('qa!')
