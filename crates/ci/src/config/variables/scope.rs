//! The precedence of variables with the same name.

use std::{borrow::Cow, collections::HashMap};

use super::{
    OuterVariables, ScopedVariable, UnknownVariable, Variable,
    expand::{Allowance, VariableText, expand_nested, refers},
};
use crate::config::entry::Values;

/// Letters that are written out in one compilation.
const LARGEST: usize = 32 << 20;

/// Variables whose values are written out before they are known: what looks like a name in them is none.
const WRITTEN_OUT: [&str; 2] = ["CI_ENVIRONMENT_NAME", "CI_ENVIRONMENT_URL"];

/// The variables of the layers that a job of that environment gets, later ones over earlier ones. In one layer the scope
/// that says most wins.
pub fn in_scope<'k>(
    layers: &'k [Vec<ScopedVariable>],
    environment: Option<&str>,
) -> Vec<&'k Variable> {
    let mut all = Vec::new();
    for layer in layers {
        let mut fitting: Vec<&ScopedVariable> =
            layer.iter().filter(|scoped| fits(&scoped.environment_scope, environment)).collect();
        fitting.sort_by_key(|scoped| said(&scoped.environment_scope, environment));
        all.extend(fitting.into_iter().map(|scoped| &scoped.variable));
    }
    all
}

fn fits(scope: &str, environment: Option<&str>) -> bool {
    match environment {
        _ if scope == "*" => true,
        None => false,
        Some(name) => star_fits(scope, name),
    }
}

/// Whether a name fits a pattern in which stars stand for anything.
fn star_fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// How much a scope says: anything, something, all.
fn said(scope: &str, environment: Option<&str>) -> (u8, usize) {
    match scope {
        "*" => (0, 0),
        name if environment == Some(name) => (2, 0),
        pattern => (1, pattern.len()),
    }
}

/// The variable that counts of each name.
type ByName<'v> = HashMap<&'v str, &'v Variable, ahash::RandomState>;

/// The variables that win over the configuration in jobs of one environment.
struct ScopeVariables<'v> {
    by_name: ByName<'v>,
    /// Those that mention others, in their order.
    referring: Vec<(&'v str, &'v str)>,
}

impl<'v> ScopeVariables<'v> {
    fn of(variables: &[&'v Variable]) -> Self {
        let by_name = by_name(variables.iter().copied());
        let counts = |variable: &&'v Variable| {
            let last = by_name.get(variable.key.as_str());
            last.is_some_and(|last| std::ptr::eq(*last, *variable))
        };
        let referring = variables.iter().copied().filter(counts);
        let referring =
            referring.filter(|variable| !variable.raw && refers(&variable.value)).map(pair);
        Self { referring: referring.collect(), by_name }
    }
}

fn pair(variable: &Variable) -> (&str, &str) {
    (variable.key.as_str(), variable.value.as_str())
}

/// Variables by name, as one job sees them.
pub(crate) struct Lookup<'v> {
    beneath: ByName<'v>,
    above: HashMap<Option<String>, ScopeVariables<'v>, ahash::RandomState>,
    known: &'v OuterVariables,
    /// Whether there are variables for some environments alone.
    is_scoped: bool,
    allowance: Allowance,
}

impl<'v> Lookup<'v> {
    pub(crate) fn new(known: &'v OuterVariables) -> Self {
        let is_scoped = known.above.iter().flatten().any(|scoped| scoped.environment_scope != "*");
        let mut lookup = Self {
            beneath: by_name(&known.beneath),
            above: HashMap::default(),
            known,
            is_scoped,
            allowance: Allowance::of(LARGEST),
        };
        lookup.add_environment(None);
        lookup
    }

    fn key(&self, environment: Option<&str>) -> Option<String> {
        environment.filter(|_| self.is_scoped).map(str::to_owned)
    }

    fn above(&self, environment: Option<&str>) -> Option<&ScopeVariables<'v>> {
        self.above.get(&self.key(environment)).or_else(|| self.above.get(&None))
    }

    /// Makes ready for jobs of that environment.
    pub(crate) fn add_environment(&mut self, environment: Option<&str>) {
        let key = self.key(environment);
        if !self.above.contains_key(&key) {
            let above = ScopeVariables::of(&in_scope(&self.known.above, key.as_deref()));
            self.above.insert(key, above);
        }
    }

    pub(crate) fn of<'l>(
        &'l self,
        environment: Option<&str>,
        yaml: &'l Values,
        job: &'l [(&'static str, Cow<'_, str>)],
    ) -> View<'l> {
        let above = self.above(environment);
        View { beneath: &self.beneath, above, yaml, job, allowance: &self.allowance }
    }

    /// Whether so much was written out that the last texts were left as they are.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.allowance.is_exhausted()
    }

    /// Takes from what may be written out; whether there was enough.
    pub(crate) fn take(&self, letters: usize) -> bool {
        self.allowance.take(letters)
    }

    /// The sentence about variables that name one another, those of a job in the environment among them.
    pub(crate) fn circle(&self, environment: Option<&str>, yaml: &Values) -> Option<String> {
        let above = self.above(environment);
        let is_hidden = |key: &str| above.is_some_and(|above| above.by_name.contains_key(key));
        let own = yaml.iter().filter(|(_, value)| !value.raw && refers(&value.text));
        let own = own.filter(|(key, _)| !is_hidden(key)).map(|(key, value)| (&**key, &*value.text));
        let above = above.into_iter().flat_map(|above| &above.referring);
        super::circle(own.chain(above.map(|(key, value)| (*key, *value))))
    }
}

/// The variables of one job.
#[derive(Clone, Copy)]
pub(crate) struct View<'l> {
    beneath: &'l ByName<'l>,
    above: Option<&'l ScopeVariables<'l>>,
    yaml: &'l Values,
    job: &'l [(&'static str, Cow<'l, str>)],
    allowance: &'l Allowance,
}

impl<'l> View<'l> {
    /// The value as it is written: conditions compare that.
    pub(crate) fn get(&self, name: &str) -> Option<&'l str> {
        self.find(name).map(|value| value.text)
    }

    /// A text with values for names, and for the names that these mention.
    pub(crate) fn expand<'t>(&self, text: &'t str, unknown: UnknownVariable) -> Cow<'t, str> {
        expand_nested(text, &|name| self.find(name), unknown, self.allowance)
    }

    /// As [`Lookup::is_exhausted`].
    pub(crate) fn is_exhausted(&self) -> bool {
        self.allowance.is_exhausted()
    }

    /// As [`Lookup::take`].
    pub(crate) fn take(&self, letters: usize) -> bool {
        self.allowance.take(letters)
    }

    fn find(&self, name: &str) -> Option<VariableText<'l>> {
        if let Some(variable) = self.above.and_then(|above| above.by_name.get(name)) {
            return Some(VariableText { text: &variable.value, raw: variable.raw });
        }
        if let Some(value) = self.yaml.get(name) {
            return Some(VariableText { text: &value.text, raw: value.raw });
        }
        if let Some(variable) = self.beneath.get(name) {
            return Some(VariableText { text: &variable.value, raw: variable.raw });
        }
        let (key, value) = self.job.iter().find(|(key, _)| *key == name)?;
        Some(VariableText { text: value, raw: WRITTEN_OUT.contains(key) })
    }
}

fn by_name<'v>(variables: impl IntoIterator<Item = &'v Variable>) -> ByName<'v> {
    variables.into_iter().map(|variable| (variable.key.as_str(), variable)).collect()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Lookup, OuterVariables, ScopedVariable, UnknownVariable, Variable, in_scope};
    use crate::config::entry::{Values, VariableValue};

    fn values(environment: Option<&str>) -> Vec<String> {
        let layer = |rows: &[(&str, &str)]| -> Vec<ScopedVariable> {
            let scoped = |(scope, value): &(&str, &str)| ScopedVariable {
                variable: Variable::secret("KEY", *value),
                environment_scope: (*scope).to_owned(),
            };
            rows.iter().map(scoped).collect()
        };
        let group = layer(&[("production", "group exact")]);
        let project =
            layer(&[("review/x", "exact"), ("*", "all"), ("review/*", "some"), ("*/x", "tail")]);
        let layers = [group, project];
        in_scope(&layers, environment).into_iter().map(|one| one.value.clone()).collect()
    }

    #[test]
    fn the_scope_that_says_most_comes_last_in_its_layer() {
        assert_eq!(values(None), ["all"]);
        assert_eq!(values(Some("review/x")), ["all", "tail", "some", "exact"]);
        assert_eq!(values(Some("review/y")), ["all", "some"]);
        assert_eq!(values(Some("production")), ["group exact", "all"]);
        assert_eq!(values(Some("preview/y")), ["all"]);
    }

    fn yaml(pairs: &[(&str, &str)]) -> Values {
        let value = |text: &str| VariableValue { text: text.into(), raw: false };
        pairs.iter().map(|(key, text)| ((*key).into(), value(text))).collect()
    }

    #[test]
    fn a_circle_of_an_environment_is_found_and_one_through_raw_values_is_none() {
        let raw = Variable { raw: true, ..Variable::secret("RAW", "$OF_RAW") };
        let scoped = |variable, scope: &str| ScopedVariable {
            variable,
            environment_scope: scope.to_owned(),
        };
        let above = vec![vec![scoped(raw, "*"), scoped(Variable::secret("A", "$B"), "prod")]];
        let known = OuterVariables { beneath: Vec::new(), above };
        let mut lookup = Lookup::new(&known);
        lookup.add_environment(Some("prod"));
        let sentence = "circular variable reference detected: [\"B\", \"A\"]";

        let own = yaml(&[("A", "a"), ("B", "$A"), ("OF_RAW", "$RAW")]);

        assert_eq!(lookup.circle(None, &own), None);
        assert_eq!(lookup.circle(Some("prod"), &own).as_deref(), Some(sentence));
    }

    #[test]
    fn a_value_takes_in_others_unless_it_is_raw() {
        let raw = Variable { raw: true, ..Variable::secret("RAW", "$NAME") };
        let above = ["RAW", "OVER"].map(|key| match key {
            "RAW" => ScopedVariable::everywhere(raw.clone()),
            key => ScopedVariable::everywhere(Variable::secret(key, "$NAME-$BELOW")),
        });
        let beneath = vec![Variable::public("BELOW", "$OWN")];
        let known = OuterVariables { beneath, above: vec![above.into()] };
        let (lookup, own) = (Lookup::new(&known), yaml(&[("OWN", "own"), ("NAME", "$NO")]));
        let job = [("CI_JOB_NAME", Cow::Borrowed("$OWN"))];
        let view = lookup.of(None, &own, &job);

        let shown = view.expand("$OVER $RAW $CI_JOB_NAME $NO", UnknownVariable::Stays);

        assert_eq!(shown, "-own $NAME own $NO");
        assert_eq!(view.get("OVER"), Some("$NAME-$BELOW"));
    }
}
