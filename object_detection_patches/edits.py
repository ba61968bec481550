"""Edits of one Python file through its syntax tree (LibCST), each of which must find its construct exactly
once.

Comments, blank lines, indentation and line ends of the file stay as they are. Every changed statement gets a
comment that names the patch, as the API's licence asks of changed files.
"""

import ast

import libcst as cst

from object_detection_patches.errors import PatchError


class File:
    """The syntax tree of one file while one patch edits it.

    The code given to the methods is Python in any formatting: what is looked for is compared as syntax, not
    as text. `inside` is the dotted name of the class or function to look in ("create_model_fn.model_fn"),
    None for anywhere.
    """

    def __init__(self, patch, path, data):
        """patch: its name. path: the file's name in messages. data: the file's content, bytes."""
        self._patch = patch
        self._path = path
        try:
            self._module = cst.parse_module(data)
        except (cst.ParserSyntaxError, UnicodeDecodeError, SyntaxError):
            raise PatchError(patch, path, "Python that can be parsed", 0)

    @property
    def data(self):
        """The content of the file with the edits made so far, bytes."""
        return self._module.bytes

    def replace_expression(self, old, new, inside=None):
        """Puts the expression `new` where `old` is."""
        self._edit(_ReplaceExpression(self, inside, old, new), f"the expression `{old}`", inside)

    def replace_statement(self, old, new, inside=None):
        """Puts the simple statement `new` where the simple statement `old` is."""
        self._edit(_ReplaceStatement(self, inside, old, new), f"the statement `{old}`", inside)

    def insert_before(self, old, new, inside=None):
        """Puts the statement `new` before the simple statement `old`."""
        self._edit(_InsertBefore(self, inside, old, new), f"the statement `{old}`", inside)

    def insert_first(self, statement, function):
        """Makes `statement` the first of a function, after its docstring."""
        self._edit(_InsertFirst(self, function, statement), f"the function {function}", None)

    def add_parameters(self, parameters, function):
        """Appends `parameters` ("a=None, b=None") to those of a function that takes neither * nor **."""
        self._edit(_AddParameters(self, function, parameters), f"the function {function} without {parameters}", None)

    def guard_assignment(self, name, condition, inside):
        """Lets the assignment to the variable `name` happen only where `condition` holds."""
        self._edit(_GuardAssignment(self, inside, name, condition), f"an assignment to {name}", inside)

    def comment(self):
        """The comment line that marks a changed statement."""
        return cst.EmptyLine(comment=cst.Comment(f"# Changed by the tfod-train patch {self._patch}."))

    def expression(self, code):
        """The node of an expression written by a patch, with this file's line ends."""
        code = code.replace("\n", self._module.default_newline)
        return cst.parse_expression(code, config=self._module.config_for_parsing)

    def statement(self, code):
        """The node of a statement written by a patch, with this file's line ends."""
        code = code.replace("\n", self._module.default_newline)
        return cst.parse_statement(code, config=self._module.config_for_parsing)

    def same(self, node, code):
        """Whether `node` and `code` are the same syntax, however they are formatted."""
        return _syntax(self._module.code_for_node(node)) == _syntax(code)

    def _edit(self, visitor, construct, inside):
        edited = self._module.visit(visitor)
        if visitor.found != 1:
            where = f" inside {inside}" if inside else ""
            raise PatchError(self._patch, self._path, construct + where, visitor.found)
        self._module = edited


def _syntax(code):
    # Parentheses let an expression that spans lines be parsed on its own; a statement is parsed as it is.
    try:
        return ast.dump(ast.parse(f"({code.strip()}\n)", mode="eval"))
    except SyntaxError:
        return ast.dump(ast.parse(code.strip()))


class _Edit(cst.CSTTransformer):
    """Walks a file, knows in which class or function it is, and marks the statement in which it changed
    something."""

    marks_statement = True

    def __init__(self, file, inside):
        super().__init__()
        self.file = file
        self.found = 0
        self._inside = inside
        self._scope = []
        self._statements = []

    def on_visit(self, node):
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            self._scope.append(node.name.value)
        if _is_statement(node):
            self._statements.append(False)
        return super().on_visit(node)

    def on_leave(self, original, updated):
        edited = self.edit(original, updated)
        if edited is not None:
            self.found += 1
            self._statements[-1] = self.marks_statement
            updated = edited
        if isinstance(original, (cst.FunctionDef, cst.ClassDef)):
            self._scope.pop()
        if _is_statement(original) and self._statements.pop():
            updated = updated.with_changes(leading_lines=[*updated.leading_lines, self.file.comment()])
        return updated

    def edit(self, original, updated):
        """Returns the node to put in the place of `original`, None to leave it."""
        raise NotImplementedError

    @property
    def here(self):
        """Whether the walk is inside the wanted class or function."""
        scope = ".".join(self._scope)
        return self._inside is None or scope == self._inside or scope.startswith(self._inside + ".")

    def is_function(self, node):
        """Whether `node` is the wanted function itself."""
        return isinstance(node, cst.FunctionDef) and ".".join(self._scope) == self._inside


class _ReplaceExpression(_Edit):
    def __init__(self, file, inside, old, new):
        super().__init__(file, inside)
        self._old = old
        self._kind = type(file.expression(old))
        self._new = file.expression(new)

    def edit(self, original, updated):
        if self.here and isinstance(original, self._kind) and self.file.same(original, self._old):
            return self._new
        return None


class _StatementEdit(_Edit):
    """An edit at the simple statement `old`, with the statement `new`."""

    def __init__(self, file, inside, old, new):
        super().__init__(file, inside)
        self._old = old
        self._kind = type(file.statement(old).body[0])
        self._new = file.statement(new)

    def is_old(self, node):
        return (
            self.here
            and isinstance(node, cst.SimpleStatementLine)
            and len(node.body) == 1
            and isinstance(node.body[0], self._kind)
            and self.file.same(node.body[0], self._old)
        )


class _ReplaceStatement(_StatementEdit):
    def edit(self, original, updated):
        return updated.with_changes(body=self._new.body) if self.is_old(original) else None


class _InsertBefore(_StatementEdit):
    # What is new is marked itself, rather than the statement after it.
    marks_statement = False

    def edit(self, original, updated):
        if not self.is_old(original):
            return None
        new = self._new.with_changes(leading_lines=[*updated.leading_lines, self.file.comment()])
        return cst.FlattenSentinel([new, updated.with_changes(leading_lines=[])])


class _InsertFirst(_Edit):
    # What is new is marked itself, rather than the function around it.
    marks_statement = False

    def __init__(self, file, function, statement):
        super().__init__(file, function)
        self._statement = file.statement(statement).with_changes(leading_lines=[file.comment()])

    def edit(self, original, updated):
        if not self.is_function(original):
            return None
        body = list(updated.body.body)
        at = 1 if original.get_docstring() is not None else 0
        body.insert(at, self._statement)
        return updated.with_changes(body=updated.body.with_changes(body=body))


class _AddParameters(_Edit):
    def __init__(self, file, function, parameters):
        super().__init__(file, function)
        self._new = file.statement(f"def f({parameters}): pass").params.params

    def edit(self, original, updated):
        if not self.is_function(original):
            return None
        params = updated.params
        taken = {param.name.value for param in params.params}
        if (
            params.kwonly_params
            or params.star_kwarg
            or params.star_arg is not cst.MaybeSentinel.DEFAULT
            or any(param.name.value in taken for param in self._new)
        ):
            return None
        return updated.with_changes(params=params.with_changes(params=[*params.params, *self._new]))


class _GuardAssignment(_Edit):
    def __init__(self, file, inside, name, condition):
        super().__init__(file, inside)
        self._name = name
        self._condition = file.expression(condition)

    def edit(self, original, updated):
        if not (
            self.here
            and isinstance(original, cst.SimpleStatementLine)
            and len(original.body) == 1
            and isinstance(original.body[0], cst.Assign)
        ):
            return None
        targets = [target.target for target in original.body[0].targets]
        if len(targets) != 1 or not isinstance(targets[0], cst.Name) or targets[0].value != self._name:
            return None
        guarded = updated.with_changes(leading_lines=[])
        return cst.If(test=self._condition, body=cst.IndentedBlock(body=[guarded]), leading_lines=updated.leading_lines)


def _is_statement(node):
    return isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
