//! Evaluation of a condition.

use super::{lexer::Comparison, parser::Tree, pattern::Patterns};

pub(super) struct Evaluation<'e, 'v> {
    pub(super) variable: &'e dyn Fn(&str) -> Option<&'v str>,
    pub(super) patterns: &'e mut Patterns,
}

/// The value of a part.
enum Value<'t> {
    Null,
    Bool(bool),
    Text(&'t str),
    /// Of a literal, not of a variable.
    Pattern(&'t str),
}

impl<'v> Evaluation<'_, 'v> {
    pub(super) fn is_true<'t>(&mut self, tree: &'t Tree) -> bool
    where
        'v: 't,
    {
        match self.value(tree) {
            Value::Null => false,
            Value::Bool(value) => value,
            Value::Text(text) => !text.trim().is_empty(),
            Value::Pattern(_) => true,
        }
    }

    fn value<'t>(&mut self, tree: &'t Tree) -> Value<'t>
    where
        'v: 't,
    {
        match tree {
            Tree::Or(left, right) => Value::Bool(self.is_true(left) || self.is_true(right)),
            Tree::And(left, right) => Value::Bool(self.is_true(left) && self.is_true(right)),
            Tree::Compare(comparison, left, right) => {
                Value::Bool(self.compare(*comparison, left, right))
            }
            Tree::Variable(name) => (self.variable)(name).map_or(Value::Null, Value::Text),
            Tree::Text(text) => Value::Text(text),
            Tree::Pattern(literal) => Value::Pattern(literal),
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Null => Value::Null,
        }
    }

    fn compare(&mut self, comparison: Comparison, left: &Tree, right: &Tree) -> bool {
        let (left, right) = (self.value(left), self.value(right));
        match comparison {
            Comparison::Equal => equal(&left, &right),
            Comparison::Unequal => !equal(&left, &right),
            Comparison::Match => self.matches(&left, &right),
            Comparison::Mismatch => !self.matches(&left, &right),
        }
    }

    /// Whether the right side is a pattern, of a literal or in a variable, that fits somewhere in the left side.
    fn matches(&mut self, left: &Value<'_>, right: &Value<'_>) -> bool {
        let text = match left {
            Value::Text(text) | Value::Pattern(text) => text,
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::Null => "",
        };
        match right {
            Value::Pattern(literal) | Value::Text(literal) => self.patterns.fits(literal, text),
            Value::Null | Value::Bool(_) => false,
        }
    }
}

fn equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::Pattern(left), Value::Pattern(right)) => left == right,
        _ => false,
    }
}
