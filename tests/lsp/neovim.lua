-- What a person does in Neovim, by the functions that the keys call; says in lines of JSON what came of it.
local function say(what, value)
  io.stdout:write(vim.json.encode({ [what] = value }) .. "\n")
end
local function wait(is_there)
  if not vim.wait(60000, is_there, 20) then
    error("nothing came within a minute")
  end
end
local function ask(method, more)
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", params, more or {}), 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

vim.o.swapfile = false
vim.cmd("filetype on")
vim.cmd("edit src/fairwater/curve.py")
local get_clients = vim.lsp.get_clients or vim.lsp.get_active_clients
wait(function()
  return get_clients()[1] and get_clients()[1].initialized
end)
wait(function()
  return #vim.diagnostic.get(nil) == 3
end)
say("findings", vim.tbl_map(function(each)
  return each.code
end, vim.diagnostic.get(nil)))
vim.fn.search("REQ-d00002")
say("hover", ask("textDocument/hover").contents.value)
say("definitions", #ask("textDocument/definition"))
say("references", #ask("textDocument/references", { context = { includeDeclaration = true } }))

vim.fn.append(0, "# Implements: REQ-d0000")
vim.fn.cursor(1, 1)
local shown
vim.fn.complete = function(column, items)
  shown = { column = column, first = items[1] and items[1].word }
end
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("A<C-x><C-o>", true, false, true), "n", false)
local function finish()
  say("completed", shown)
  vim.cmd("stopinsert")
  vim.cmd("edit!")
  vim.cmd("edit spec/ops-harbour.md")
  local line = vim.fn.search("7ae621c6")
  vim.fn.cursor(line, 1)
  local range = { start = { line = line - 1, character = 0 }, ["end"] = { line = line - 1, character = 0 } }
  local action = ask("textDocument/codeAction", { range = range, context = { diagnostics = {} } })[1]
  vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
  say("after", vim.fn.getline(line))
  vim.cmd("silent write")
  wait(function()
    return #vim.diagnostic.get(nil) == 2
  end)
  say("left", #vim.diagnostic.get(nil))
  vim.cmd("qall!")
end
local timer = vim.loop.new_timer()
timer:start(20, 20, vim.schedule_wrap(function()
  if shown and not timer:is_closing() then
    timer:close()
    local done, problem = pcall(finish)
    if not done then
      say("problem", problem)
      vim.cmd("cquit")
    end
  end
end))
