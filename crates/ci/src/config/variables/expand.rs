//! Names of variables in a text: `$NAME`, `${NAME}`, `%NAME%`. Doubled signs are left as they are.

use std::{borrow::Cow, cell::Cell, collections::HashMap};

use super::Variable;

/// A text to which names add no more.
const LONGEST: usize = 64 << 10;

/// Values inside one another.
const DEEPEST: usize = 1000;

/// What a value costs beside its letters.
const STEP: usize = 8;

/// The treatment of undefined variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownVariable {
    Vanishes,
    Stays,
}

/// The letters that may still be written out. Nobody may rely on a text that is made once there are none.
#[derive(Debug)]
pub(super) struct Allowance(Cell<usize>);

impl Allowance {
    pub(super) fn of(letters: usize) -> Self {
        Self(Cell::new(letters))
    }

    /// Whether there were enough.
    pub(super) fn take(&self, letters: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(letters));
        !self.is_exhausted()
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }

    fn exhaust(&self) {
        self.0.set(0);
    }
}

/// The text with values for names. Once it is too long, further names stay as they are.
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

/// A value as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariableText<'v> {
    pub(super) text: &'v str,
    /// Whether names in it are left alone.
    pub(super) raw: bool,
}

/// Whether a text may mention names.
pub(super) fn refers(text: &str) -> bool {
    text.contains(['$', '%'])
}

/// As [`expand`], with the values written into one another: in them names of nothing vanish, as does the name of a value
/// inside itself. What is read and written is taken from the allowance; a text that is too long or too deep exhausts it, and
/// is left as it is.
pub(super) fn expand_nested<'t, 'v>(
    text: &'t str,
    variable: &dyn Fn(&str) -> Option<VariableText<'v>>,
    unknown: UnknownVariable,
    allowance: &Allowance,
) -> Cow<'t, str> {
    if !refers(text) || !allowance.take(text.len()) {
        return Cow::Borrowed(text);
    }
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    // The names whose values are being written, and what follows them where they stand.
    let mut outer: Vec<(&str, &str)> = Vec::new();
    loop {
        let Some(at) = rest.find(['$', '%']) else {
            made.push_str(rest);
            let Some((_, after)) = outer.pop() else { return Cow::Owned(made) };
            rest = after;
            continue;
        };
        made.push_str(&rest[..at]);
        let (name, length) = name(&rest[at..]);
        let written = &rest[at..at + length];
        rest = &rest[at + length..];
        match name.map(|name| (name, variable(name))) {
            Some((name, Some(value))) => {
                let is_open = outer.iter().any(|(open, _)| *open == name);
                // To look through what is open takes time, too.
                let cost = STEP + outer.len() + if is_open { 0 } else { value.text.len() };
                let fits = made.len() <= LONGEST && outer.len() <= DEEPEST;
                if !fits || !allowance.take(cost) {
                    allowance.exhaust();
                    return Cow::Borrowed(text);
                }
                match value {
                    _ if is_open => {}
                    value if value.raw || !refers(value.text) => made.push_str(value.text),
                    value => {
                        outer.push((name, rest));
                        rest = value.text;
                    }
                }
            }
            Some((_, None)) if unknown == UnknownVariable::Vanishes || !outer.is_empty() => {}
            _ => made.push_str(written),
        }
    }
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
    use super::{
        Allowance, UnknownVariable, Variable, VariableText, expand, expand_nested, expanded,
    };

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

    fn nested(text: &str, values: &[(String, String)], allowance: &Allowance) -> String {
        let variable = |name: &str| {
            let (key, text) = values.iter().find(|(key, _)| key == name)?;
            Some(VariableText { text, raw: key == "RAW" })
        };
        expand_nested(text, &variable, UnknownVariable::Stays, allowance).into_owned()
    }

    #[test]
    fn names_in_values_are_replaced_and_unknown_ones_vanish() {
        let values = [
            ("A", "1"),
            ("B", "<${A}>"),
            ("C", "$B-%B%-$NO"),
            ("RAW", "$A"),
            ("R", "[$RAW]"),
            ("X", "x$Y"),
            ("Y", "y$X"),
            ("SELF", "$SELF:s"),
            ("SIGNS", "$$A%%A%%"),
        ];
        let values = values.map(|(key, text)| (key.to_owned(), text.to_owned()));
        for (text, expected) in [
            ("$C!", "<1>-<1>-!"),
            ("$NO $R $RAW", "$NO [$A] $A"),
            ("$X $Y", "xy yx"),
            ("$SELF $SIGNS", ":s $$A%%A%%"),
        ] {
            assert_eq!(nested(text, &values, &Allowance::of(1000)), expected, "{text}");
        }
    }

    #[test]
    fn values_in_values_come_to_an_end() {
        let mut doubled = vec![("V0".to_owned(), String::new())];
        let mut chain = vec![("C0".to_owned(), "end".to_owned())];
        for level in 1..1000 {
            let before = level - 1;
            doubled.push((format!("V{level}"), format!("$V{before}$V{before}")));
            chain.push((format!("C{level}"), format!("$C{before}")));
        }
        let long = [("L".to_owned(), "x".repeat(40_000)), ("C1000".to_owned(), "$C999".to_owned())];
        chain.extend(long);
        let end = |text: &str, values: &[(String, String)]| {
            let allowance = Allowance::of(2_000_000);
            let made = nested(text, values, &allowance);
            (!allowance.is_exhausted()).then_some(made.len())
        };

        assert_eq!(end("$C99 $C1000", &chain), Some("end end".len()));
        chain.push(("C1001".to_owned(), "$C1000".to_owned()));
        assert_eq!(end("$C1001", &chain), None);
        assert_eq!(end("$L$L", &chain), Some(80_000));
        assert_eq!(end("$L$L$L", &chain), None);
        assert_eq!(end("$V999", &doubled), None);
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
