//! Names of variables in a text: `$NAME`, `${NAME}`, `%NAME%`. Doubled signs are left as they are.

use std::{borrow::Cow, collections::HashMap};

use super::Variable;

/// A text does not grow beyond this; further names stay as they are.
const LONGEST: usize = 64 << 10;

/// The treatment of undefined variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownVariable {
    Vanishes,
    Stays,
}

/// The text with values for names.
pub fn expand<'t, 'v>(
    text: &'t str,
    variable: &dyn Fn(&str) -> Option<&'v str>,
    unknown: UnknownVariable,
) -> Cow<'t, str> {
    if !text.contains(['$', '%']) {
        return Cow::Borrowed(text);
    }
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['$', '%']) {
        made.push_str(&rest[..at]);
        rest = &rest[at..];
        let (name, length) = name(rest);
        let value = name.map(variable);
        match value {
            _ if made.len() > LONGEST => made.push_str(&rest[..length]),
            Some(Some(value)) => made.push_str(value),
            Some(None) if unknown == UnknownVariable::Vanishes => {}
            _ => made.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    made.push_str(rest);
    Cow::Owned(made)
}

/// The names that a text mentions.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find(['$', '%'])?..];
            let (name, length) = name(rest);
            rest = &rest[length..];
            if name.is_some() {
                return name;
            }
        }
    })
}

/// The name at the beginning of a text, and how much of the text it takes; without one, what to pass over.
fn name(text: &str) -> (Option<&str>, usize) {
    let (sign, rest) = text.split_at(1);
    if rest.starts_with(sign) {
        return (None, 2);
    }
    let (open, close) = match (sign, rest.starts_with('{')) {
        ("$", true) => (1, "}"),
        ("$", false) => (0, ""),
        _ => (0, "%"),
    };
    let inner = &rest[open..];
    let end = inner
        .find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
        .unwrap_or(inner.len());
    let named = inner.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
    if !named || !inner[end..].starts_with(close) {
        return (None, 1);
    }
    (Some(&inner[..end]), 1 + open + end + close.len())
}

/// Variables with the values of others written into them, as a runner gets them. Of one name the last counts. Names of
/// raw and file variables and of none are left for the runner; so is everything that is raw itself.
pub fn expanded(variables: &[Variable]) -> Vec<Variable> {
    let mut expansion = Expansion { by_name: HashMap::new(), variables, done: HashMap::new() };
    for (index, variable) in variables.iter().enumerate() {
        expansion.by_name.insert(&variable.key, index);
    }
    let finished = |(index, variable): (usize, &Variable)| Variable {
        value: expansion.value(index),
        ..variable.clone()
    };
    variables.iter().enumerate().map(finished).collect()
}

struct Expansion<'v> {
    by_name: HashMap<&'v str, usize>,
    variables: &'v [Variable],
    done: HashMap<usize, String>,
}

impl Expansion<'_> {
    /// The value with everything it names, worked out without recursion: chains may be long.
    fn value(&mut self, index: usize) -> String {
        let mut stack = vec![(index, false)];
        let mut open = std::collections::HashSet::new();
        while let Some((at, ready)) = stack.pop() {
            if self.done.contains_key(&at) {
                continue;
            }
            if ready {
                open.remove(&at);
                let value = self.written_out(at);
                self.done.insert(at, value);
                continue;
            }
            open.insert(at);
            stack.push((at, true));
            let inner = self.references(at);
            stack.extend(
                inner.into_iter().filter(|next| !open.contains(next)).map(|next| (next, false)),
            );
        }
        self.done.get(&index).cloned().unwrap_or_default()
    }

    fn references(&self, index: usize) -> Vec<usize> {
        let variable = &self.variables[index];
        if variable.raw {
            return Vec::new();
        }
        let found = names(&variable.value).filter_map(|name| self.by_name.get(name).copied());
        found.filter(|at| *at != index && self.is_open(*at)).collect()
    }

    /// Whether its value may stand in others.
    fn is_open(&self, index: usize) -> bool {
        !self.variables[index].raw && !self.variables[index].file
    }

    fn written_out(&self, index: usize) -> String {
        let variable = &self.variables[index];
        if variable.raw {
            return variable.value.clone();
        }
        let value = |name: &str| {
            let at = self.by_name.get(name).filter(|at| **at != index && self.is_open(**at))?;
            self.done.get(at).map(String::as_str)
        };
        expand(&variable.value, &value, UnknownVariable::Stays).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{UnknownVariable, Variable, expand, expanded};

    fn shown(text: &str, unknown: UnknownVariable) -> String {
        let variable = |name: &str| match name {
            "A" => Some("1"),
            "LONG_NAME2" => Some("2"),
            _ => None,
        };
        expand(text, &variable, unknown).into_owned()
    }

    #[test]
    fn names_are_replaced_by_values() {
        for (text, stays, vanishes) in [
            ("plain", "plain", "plain"),
            ("$A-${A}-%A%", "1-1-1", "1-1-1"),
            ("$LONG_NAME2!", "2!", "2!"),
            ("$NO ${NO} %NO%", "$NO ${NO} %NO%", "  "),
            ("$$A %%A%%", "$$A %%A%%", "$$A %%A%%"),
            ("$1 ${1} ${A 100%", "$1 ${1} ${A 100%", "$1 ${1} ${A 100%"),
            ("é$Aé", "é1é", "é1é"),
            ("$", "$", "$"),
        ] {
            assert_eq!(shown(text, UnknownVariable::Stays), stays);
            assert_eq!(shown(text, UnknownVariable::Vanishes), vanishes);
        }
    }

    #[test]
    fn variables_are_written_into_one_another() {
        let raw = Variable { raw: true, ..Variable::public("RAW", "$A") };
        let file = Variable { file: true, ..Variable::public("FILE", "$A") };
        let plain =
            [("C", "$B!"), ("B", "${A}b"), ("A", "old"), ("A", "a"), ("X", "$RAW $FILE $NO $X")];
        let mut all: Vec<_> = plain.map(|(key, value)| Variable::public(key, value)).into();
        all.extend([raw, file]);

        let values: Vec<_> = expanded(&all).into_iter().map(|one| one.value).collect();

        assert_eq!(values, ["ab!", "ab", "old", "a", "$RAW $FILE $NO $X", "$A", "a"]);
    }

    #[test]
    fn values_that_double_themselves_come_to_an_end() {
        let mut all = vec![Variable::public("V0", "x".repeat(1000))];
        for level in 1..40 {
            let before = format!("$V{}", level - 1);
            all.push(Variable::public(format!("V{level}"), before.repeat(10)));
        }

        assert!(expanded(&all).iter().all(|one| one.value.len() < 1 << 20));
    }
}
