"""Edits of one Python file through its syntax tree (LibCST), each of which must find its construct exactly once.

Comments, blank lines, indentation and line ends of the file stay as they are. Every changed statement gets a
comment that names the patch, as the API's licence asks of changed files.
"""

import ast
from typing import Any, List, Optional, Union

import libcst as cst

from object_detection_patches.errors import PatchError

# What may stand in the place of a node after an edit.
_Edited = Union[cst.CSTNode, cst.FlattenSentinel]
_Statement = Union[cst.SimpleStatementLine, cst.BaseCompoundStatement]


class File:
    """The syntax tree of one file while one patch edits it.

    The code given to the methods is Python in any formatting: what is looked for is compared as syntax, not
    as text. `inside` is the dotted name of the class or function to look in ("create_model_fn.model_fn"),
    None for anywhere.
    """

    def __init__(self, patch: str, path: str, data: bytes) -> None:
        """Parses the file.

        Args:
            patch: its name.
            path: the file's name in messages.
            data: the file's content.

        Raises:
            PatchError: it is not Python.
        """
        self._patch = patch
        self._path = path
        try:
            self._module = cst.parse_module(data)
        except (cst.ParserSyntaxError, UnicodeDecodeError, SyntaxError) as error:
            raise PatchError(patch, path, "Python that can be parsed", 0) from error

    @property
    def data(self) -> bytes:
        """The content of the file with the edits made so far."""
        return self._module.bytes

    def replace_expression(self, old: str, new: str, inside: Optional[str] = None) -> None:
        """Puts the expression `new` where `old` is."""
        self._edit(_ReplaceExpression(self, inside, old, new), f"the expression `{old}`", inside)

    def replace_statement(self, old: str, new: str, inside: Optional[str] = None) -> None:
        """Puts the simple statement `new` where the simple statement `old` is."""
        self._edit(_ReplaceStatement(self, inside, old, new), f"the statement `{old}`", inside)

    def insert_before(self, old: str, new: str, inside: Optional[str] = None) -> None:
        """Puts the statement `new` before the simple statement `old`."""
        self._edit(_InsertBefore(self, inside, old, new), f"the statement `{old}`", inside)

    def insert_first(self, statement: str, function: str) -> None:
        """Makes `statement` the first of a function, after its docstring."""
        self._edit(_InsertFirst(self, function, statement), f"the function {function}", None)

    def add_parameters(self, parameters: str, function: str) -> None:
        """Appends `parameters` ("a=None, b=None") to those of a function that takes neither * nor **."""
        self._edit(_AddParameters(self, function, parameters), f"the function {function} without {parameters}", None)

    def guard_assignment(self, name: str, condition: str, inside: str) -> None:
        """Lets the assignment to the variable `name` happen only where `condition` holds."""
        self._edit(_GuardAssignment(self, inside, name, condition), f"an assignment to {name}", inside)

    def comment(self) -> cst.EmptyLine:
        """The comment line that marks a changed statement."""
        return cst.EmptyLine(comment=cst.Comment(f"# Changed by the tfod-train patch {self._patch}."))

    def expression(self, code: str) -> cst.BaseExpression:
        """The node of an expression written by a patch, with this file's line ends."""
        code = code.replace("\n", self._module.default_newline)
        return cst.parse_expression(code, config=self._module.config_for_parsing)

    def statement(self, code: str) -> _Statement:
        """The node of a statement written by a patch, with this file's line ends."""
        code = code.replace("\n", self._module.default_newline)
        return cst.parse_statement(code, config=self._module.config_for_parsing)

    def same(self, node: cst.CSTNode, code: str) -> bool:
        """Whether `node` and `code` are the same syntax, however they are formatted."""
        return _syntax(self._module.code_for_node(node)) == _syntax(code)

    def _edit(self, visitor: "_Edit", construct: str, inside: Optional[str]) -> None:
        edited = self._module.visit(visitor)
        if visitor.found != 1:
            where = f" inside {inside}" if inside else ""
            raise PatchError(self._patch, self._path, construct + where, visitor.found)
        self._module = edited


def _syntax(code: str) -> str:
    # Parentheses let an expression that spans lines be parsed on its own; a statement is parsed as it is.
    try:
        return ast.dump(ast.parse(f"({code.strip()}\n)", mode="eval"))
    except SyntaxError:
        return ast.dump(ast.parse(code.strip()))


class _Edit(cst.CSTTransformer):
    """Walks a file, knows in which class or function it is, and marks the statement in which it changed something."""

    marks_statement = True

    def __init__(self, file: File, inside: Optional[str]) -> None:
        super().__init__()
        self.file = file
        self.found = 0
        self._inside = inside
        self._scope: List[str] = []
        self._statements: List[bool] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            self._scope.append(node.name.value)
        if _is_statement(node):
            self._statements.append(False)
        # Most of a file lies outside, and walking it is most of the work.
        return self._leads_inside and super().on_visit(node)

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> Any:
        result: Any = updated
        edited = self.edit(original, updated)
        if edited is not None:
            self.found += 1
            self._statements[-1] = self.marks_statement
            result = edited
        if isinstance(original, (cst.FunctionDef, cst.ClassDef)):
            self._scope.pop()
        if _is_statement(original) and self._statements.pop():
            result = result.with_changes(leading_lines=[*result.leading_lines, self.file.comment()])
        return result

    def edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> Optional[_Edited]:
        """Makes the change at one node.

        Args:
            original: the node.
            updated: the same, after the edits below it.

        Returns:
            What to put in its place; None to leave it.
        """
        raise NotImplementedError

    @property
    def here(self) -> bool:
        """Whether the walk is inside the wanted class or function."""
        scope = ".".join(self._scope)
        return self._inside is None or scope == self._inside or scope.startswith(self._inside + ".")

    @property
    def _leads_inside(self) -> bool:
        # Whether the walk is inside, or in a class or function around it.
        return self.here or f"{self._inside}.".startswith("".join(f"{name}." for name in self._scope))

    def is_function(self, node: cst.CSTNode) -> bool:
        """Whether `node` is the wanted function itself."""
        return isinstance(node, cst.FunctionDef) and ".".join(self._scope) == self._inside


class _ReplaceExpression(_Edit):
    def __init__(self, file: File, inside: Optional[str], old: str, new: str) -> None:
        super().__init__(file, inside)
        self._old = old
        self._kind = type(file.expression(old))
        self._new = file.expression(new)

    def edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> Optional[_Edited]:
        if self.here and isinstance(original, self._kind) and self.file.same(original, self._old):
            return self._new
        return None


class _StatementEdit(_Edit):
    """An edit at the simple statement `old`, with the statement `new`."""

    def __init__(self, file: File, inside: Optional[str], old: str, new: str) -> None:
        super().__init__(file, inside)
        self._old = old
        self._kind = type(cst.ensure_type(file.statement(old), cst.SimpleStatementLine).body[0])
        self._new = file.statement(new)

    def is_old(self, node: cst.CSTNode) -> bool:
        return (
            self.here
            and isinstance(node, cst.SimpleStatementLine)
            and len(node.body) == 1
            and isinstance(node.body[0], self._kind)
            and self.file.same(node.body[0], self._old)
        )


class _ReplaceStatement(_StatementEdit):
    def edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> Optional[_Edited]:
        if not self.is_old(original):
            return None
        return updated.with_changes(body=cst.ensure_type(self._new, cst.SimpleStatementLine).body)


class _InsertBefore(_StatementEdit):
    # What is new is marked itself, rather than the statement after it.
    marks_statement = False

    def edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> Optional[_Edited]:
        if not self.is_old(original):
            return None
        line = cst.ensure_type(updated, cst.SimpleStatementLine)
        new = self._new.with_changes(leading_lines=[*line.leading_lines, self.file.comment()])
        return cst.FlattenSentinel([new, line.with_changes(leading_lines=[])])


class _InsertFirst(_Edit):
    # What is new is marked itself, rather than the function around it.
    marks_statement = False

    def __init__(self, file: File, function: str, statement: str) -> None:
        super().__init__(file, function)
        self._statement = file.statement(statement).with_changes(leading_lines=[file.comment()])

    def edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> Optional[_Edited]:
        if not self.is_function(original):
            return None
        function = cst.ensure_type(updated, cst.FunctionDef)
        body: List[cst.CSTNode] = list(function.body.body)
        body.insert(1 if function.get_docstring() is not None else 0, self._statement)
        return function.with_changes(body=function.body.with_changes(body=body))


class _AddParameters(_Edit):
    def __init__(self, file: File, function: str, parameters: str) -> None:
        super().__init__(file, function)
        self._new = cst.ensure_type(file.statement(f"def f({parameters}): pass"), cst.FunctionDef).params.params

    def edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> Optional[_Edited]:
        if not self.is_function(original):
            return None
        params = cst.ensure_type(updated, cst.FunctionDef).params
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
    def __init__(self, file: File, inside: str, name: str, condition: str) -> None:
        super().__init__(file, inside)
        self._name = name
        self._condition = file.expression(condition)

    def edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> Optional[_Edited]:
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
        line = cst.ensure_type(updated, cst.SimpleStatementLine)
        guarded = line.with_changes(leading_lines=[])
        return cst.If(test=self._condition, body=cst.IndentedBlock(body=[guarded]), leading_lines=line.leading_lines)


def _is_statement(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
