//! From the text of a query to a document.

use crate::{
    document::{
        Argument, Directive, Document, Field, Fragment, FragmentSpread, InlineFragment, Literal,
        Name, Operation, OperationKind, Selection, Type, VariableDefinition,
    },
    error::QueryError,
    lexer::{Lexer, Token, TokenKind},
};

/// How deep braces, brackets and parentheses may stand in each other, so that no query exhausts the stack. What is
/// deeper than the limits of any caller is read all the same, so that the answer tells of the limit.
const DEEPEST: usize = 50;

/// Reads a document.
///
/// # Errors
/// With the first word that stands where it must not.
pub(crate) fn parse(text: &str) -> Result<Document, QueryError> {
    let mut lexer = Lexer::new(text);
    let next = lexer.next_token()?;
    let mut parser = Parser { lexer, next, depth: 0 };
    let mut document = Document::default();
    loop {
        if parser.is_word("fragment") {
            document.fragments.push(parser.fragment()?);
        } else {
            document.operations.push(parser.operation()?);
        }
        if parser.next.kind == TokenKind::End {
            return Ok(document);
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Token,
    depth: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Token, QueryError> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn is_word(&self, word: &str) -> bool {
        self.next.kind == TokenKind::Name && self.next.text == word
    }

    fn is_sign(&self, sign: char) -> bool {
        self.next.kind == TokenKind::Punctuation(sign)
    }

    fn unexpected<T>(&self) -> Result<T, QueryError> {
        Err(self.next.unexpected())
    }

    fn sign(&mut self, sign: char) -> Result<Token, QueryError> {
        if self.is_sign(sign) { self.advance() } else { self.unexpected() }
    }

    fn sign_if_there(&mut self, sign: char) -> Result<bool, QueryError> {
        let there = self.is_sign(sign);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn name(&mut self) -> Result<Name, QueryError> {
        match self.next.kind {
            TokenKind::Name => {
                let token = self.advance()?;
                Ok(Name { text: token.text, at: token.at })
            }
            _ => self.unexpected(),
        }
    }

    /// Reads what stands inside braces, or what is like them.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        if self.depth == DEEPEST {
            return self.unexpected();
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn operation(&mut self) -> Result<Operation, QueryError> {
        let at = self.next.at;
        let kind = match self.next.text.as_str() {
            _ if self.is_sign('{') => {
                let selections = self.selections()?;
                return Ok(Operation {
                    at,
                    kind: OperationKind::Query,
                    name: None,
                    variables: Vec::new(),
                    directives: Vec::new(),
                    selections,
                });
            }
            _ if self.next.kind != TokenKind::Name => return self.unexpected(),
            "query" => OperationKind::Query,
            "mutation" => OperationKind::Mutation,
            "subscription" => OperationKind::Subscription,
            _ => return self.unexpected(),
        };
        self.advance()?;
        let name = match self.next.kind {
            TokenKind::Name => Some(self.name()?.text),
            _ => None,
        };
        let mut variables = Vec::new();
        if self.sign_if_there('(')? {
            while !self.is_sign(')') {
                variables.push(self.variable()?);
            }
            self.sign(')')?;
        }
        let directives = self.directives()?;
        let selections = self.selections()?;
        Ok(Operation { at, kind, name, variables, directives, selections })
    }

    fn variable(&mut self) -> Result<VariableDefinition, QueryError> {
        let at = self.sign('$')?.at;
        let name = self.name()?.text;
        self.sign(':')?;
        let kind = self.kind()?;
        let default = match self.sign_if_there('=')? {
            true => Some(self.value(false)?),
            false => None,
        };
        self.directives()?;
        Ok(VariableDefinition { at, name, kind, default })
    }

    fn kind(&mut self) -> Result<Type, QueryError> {
        let kind = match self.sign_if_there('[')? {
            true => {
                let inner = self.nested(Self::kind)?;
                self.sign(']')?;
                Type::List(Box::new(inner))
            }
            false => Type::Named(self.name()?.text),
        };
        Ok(if self.sign_if_there('!')? { Type::NonNull(Box::new(kind)) } else { kind })
    }

    fn fragment(&mut self) -> Result<Fragment, QueryError> {
        let at = self.advance()?.at;
        if self.is_word("on") {
            return self.unexpected();
        }
        let name = self.name()?.text;
        if !self.is_word("on") {
            return self.unexpected();
        }
        self.advance()?;
        let condition = self.name()?;
        let directives = self.directives()?;
        let selections = self.selections()?;
        Ok(Fragment { at, name, condition, directives, selections })
    }

    fn selections(&mut self) -> Result<Vec<Selection>, QueryError> {
        self.sign('{')?;
        let selections = self.nested(|this| {
            let mut selections = Vec::new();
            while !this.is_sign('}') {
                selections.push(this.selection()?);
            }
            Ok(selections)
        })?;
        // Nothing between the braces is no selection.
        if selections.is_empty() {
            return self.unexpected();
        }
        self.sign('}')?;
        Ok(selections)
    }

    fn selection(&mut self) -> Result<Selection, QueryError> {
        if self.next.kind != TokenKind::Ellipsis {
            return Ok(Selection::Field(self.field()?));
        }
        let at = self.advance()?.at;
        if self.next.kind == TokenKind::Name && !self.is_word("on") {
            let name = self.name()?.text;
            let directives = self.directives()?;
            return Ok(Selection::Spread(FragmentSpread { at, name, directives }));
        }
        let condition = match self.is_word("on") {
            true => {
                self.advance()?;
                Some(self.name()?)
            }
            false => None,
        };
        let directives = self.directives()?;
        let selections = self.selections()?;
        Ok(Selection::Inline(InlineFragment { at, condition, directives, selections }))
    }

    fn field(&mut self) -> Result<Field, QueryError> {
        let first = self.name()?;
        let (alias, name) = match self.sign_if_there(':')? {
            true => (Some(first.text), self.name()?.text),
            false => (None, first.text),
        };
        let arguments = self.arguments()?;
        let directives = self.directives()?;
        let selections = if self.is_sign('{') { self.selections()? } else { Vec::new() };
        Ok(Field { at: first.at, alias, name, arguments, directives, selections })
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, QueryError> {
        let mut arguments = Vec::new();
        if !self.sign_if_there('(')? {
            return Ok(arguments);
        }
        loop {
            let Name { text: name, at } = self.name()?;
            self.sign(':')?;
            let value = self.value(true)?;
            arguments.push(Argument { at, name, value });
            if self.sign_if_there(')')? {
                return Ok(arguments);
            }
        }
    }

    fn directives(&mut self) -> Result<Vec<Directive>, QueryError> {
        let mut directives = Vec::new();
        while self.is_sign('@') {
            let at = self.advance()?.at;
            let name = self.name()?.text;
            let arguments = self.arguments()?;
            directives.push(Directive { at, name, arguments });
        }
        Ok(directives)
    }

    fn value(&mut self, variables: bool) -> Result<Literal, QueryError> {
        let text = match self.next.kind {
            TokenKind::Punctuation('[') => return self.list(variables),
            TokenKind::Punctuation('{') => return self.object(variables),
            TokenKind::Punctuation('$') if variables => {
                self.advance()?;
                return Ok(Literal::Variable(self.name()?.text));
            }
            TokenKind::Int | TokenKind::Float | TokenKind::Text | TokenKind::Name => {
                self.advance()?
            }
            _ => return self.unexpected(),
        };
        Ok(match text.kind {
            TokenKind::Int => Literal::Int(text.text),
            TokenKind::Float => Literal::Float(text.text),
            TokenKind::Text => Literal::Text(text.text),
            _ => match text.text.as_str() {
                "true" => Literal::Bool(true),
                "false" => Literal::Bool(false),
                "null" => Literal::Null,
                _ => Literal::Enum(text.text),
            },
        })
    }

    fn list(&mut self, variables: bool) -> Result<Literal, QueryError> {
        self.advance()?;
        let elements = self.nested(|this| {
            let mut elements = Vec::new();
            while !this.is_sign(']') {
                elements.push(this.value(variables)?);
            }
            Ok(elements)
        })?;
        self.sign(']')?;
        Ok(Literal::List(elements))
    }

    fn object(&mut self, variables: bool) -> Result<Literal, QueryError> {
        self.advance()?;
        let fields = self.nested(|this| {
            let mut fields = Vec::new();
            while !this.is_sign('}') {
                let name = this.name()?.text;
                this.sign(':')?;
                fields.push((name, this.value(variables)?));
            }
            Ok(fields)
        })?;
        self.sign('}')?;
        Ok(Literal::Object(fields))
    }
}
