//! A query document as it was written.

use std::{collections::HashMap, fmt};

/// A place in a document, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A name with its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) at: Position,
}

#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) operations: Vec<Operation>,
    pub(crate) fragments: Vec<Fragment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Query,
    Mutation,
    Subscription,
}

impl OperationKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Mutation => "mutation",
            Self::Subscription => "subscription",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) at: Position,
    pub(crate) kind: OperationKind,
    pub(crate) name: Option<String>,
    pub(crate) variables: Vec<VariableDefinition>,
    pub(crate) directives: Vec<Directive>,
    pub(crate) selections: Vec<Selection>,
}

#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) at: Position,
    pub(crate) name: String,
    pub(crate) condition: Name,
    pub(crate) directives: Vec<Directive>,
    pub(crate) selections: Vec<Selection>,
}

#[derive(Debug)]
pub(crate) struct VariableDefinition {
    pub(crate) at: Position,
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) default: Option<Literal>,
}

#[derive(Debug)]
pub(crate) struct Directive {
    pub(crate) at: Position,
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
}

#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) at: Position,
    pub(crate) name: String,
    pub(crate) value: Literal,
}

#[derive(Debug)]
pub(crate) enum Selection {
    Field(Field),
    Spread(FragmentSpread),
    Inline(InlineFragment),
}

impl Selection {
    pub(crate) fn directives(&self) -> &[Directive] {
        match self {
            Self::Field(field) => &field.directives,
            Self::Spread(spread) => &spread.directives,
            Self::Inline(inline) => &inline.directives,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) at: Position,
    pub(crate) alias: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) directives: Vec<Directive>,
    pub(crate) selections: Vec<Selection>,
}

impl Field {
    /// The name that the field has in the answer.
    pub(crate) fn key(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }
}

#[derive(Debug)]
pub(crate) struct FragmentSpread {
    pub(crate) at: Position,
    pub(crate) name: String,
    pub(crate) directives: Vec<Directive>,
}

#[derive(Debug)]
pub(crate) struct InlineFragment {
    pub(crate) at: Position,
    pub(crate) condition: Option<Name>,
    pub(crate) directives: Vec<Directive>,
    pub(crate) selections: Vec<Selection>,
}

/// A type, as schemas and variables write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Named(String),
    List(Box<Type>),
    NonNull(Box<Type>),
}

impl Type {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::List(inner) | Self::NonNull(inner) => inner.name(),
        }
    }

    pub(crate) fn is_non_null(&self) -> bool {
        matches!(self, Self::NonNull(_))
    }

    /// The type without the demand that there is a value.
    pub(crate) fn nullable(&self) -> &Self {
        match self {
            Self::NonNull(inner) => inner,
            other => other,
        }
    }
}

impl Operation {
    /// Calls types of variables by their own names where they have others, too.
    pub(crate) fn rename_types(&mut self, other_names: &HashMap<&'static str, &'static str>) {
        for variable in &mut self.variables {
            if let Some(own) = other_names.get(variable.kind.name()) {
                variable.kind.rename(own);
            }
        }
    }
}

impl Type {
    fn rename(&mut self, to: &str) {
        match self {
            Self::Named(name) => to.clone_into(name),
            Self::List(inner) | Self::NonNull(inner) => inner.rename(to),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::NonNull(inner) => write!(f, "{inner}!"),
        }
    }
}

/// A value as it is written in a document. Numbers stay texts, so that none is too large to be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(String),
    Float(String),
    Text(String),
    Enum(String),
    Variable(String),
    List(Vec<Literal>),
    Object(Vec<(String, Literal)>),
}

impl Literal {
    /// Calls for each variable inside.
    pub(crate) fn each_variable<'a>(&'a self, found: &mut impl FnMut(&'a str)) {
        match self {
            Self::Variable(name) => found(name),
            Self::List(elements) => elements.iter().for_each(|value| value.each_variable(found)),
            Self::Object(fields) => fields.iter().for_each(|(_, value)| value.each_variable(found)),
            _ => {}
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Int(text) | Self::Float(text) | Self::Enum(text) => f.write_str(text),
            Self::Text(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
            Self::Variable(name) => write!(f, "${name}"),
            Self::List(elements) => {
                f.write_str("[")?;
                for (place, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if place == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (place, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}{name}: {value}", if place == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}
