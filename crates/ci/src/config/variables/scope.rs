//! The precedence of variables with the same name.

use std::{borrow::Cow, collections::HashMap};

use super::{OuterVariables, ScopedVariable, Variable};
use crate::config::entry::Values;

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

/// Names with their values.
type ByName<'v> = HashMap<&'v str, &'v str, ahash::RandomState>;

/// Variables by name, as one job sees them.
pub(crate) struct Lookup<'v> {
    beneath: ByName<'v>,
    above: HashMap<Option<String>, ByName<'v>, ahash::RandomState>,
    known: &'v OuterVariables,
    /// Whether there are variables for some environments alone.
    is_scoped: bool,
}

impl<'v> Lookup<'v> {
    pub(crate) fn new(known: &'v OuterVariables) -> Self {
        let is_scoped = known.above.iter().flatten().any(|scoped| scoped.environment_scope != "*");
        let mut lookup =
            Self { beneath: by_name(&known.beneath), above: HashMap::default(), known, is_scoped };
        lookup.add_environment(None);
        lookup
    }

    fn key(&self, environment: Option<&str>) -> Option<String> {
        environment.filter(|_| self.is_scoped).map(str::to_owned)
    }

    /// Makes ready for jobs of that environment.
    pub(crate) fn add_environment(&mut self, environment: Option<&str>) {
        let key = self.key(environment);
        if !self.above.contains_key(&key) {
            let variables = in_scope(&self.known.above, key.as_deref());
            self.above.insert(key, by_name(variables));
        }
    }

    pub(crate) fn of<'l>(
        &'l self,
        environment: Option<&str>,
        yaml: &'l Values,
        job: &'l [(&'static str, Cow<'_, str>)],
    ) -> View<'l> {
        let above = self.above.get(&self.key(environment)).or_else(|| self.above.get(&None));
        View { beneath: &self.beneath, above, yaml, job }
    }
}

impl Lookup<'_> {
    /// The sentence about variables that name one another, those of a job among them.
    pub(crate) fn circle(&self, yaml: &Values) -> Option<String> {
        let above = || self.above.get(&None).into_iter().flatten();
        let own = || yaml.iter().filter(|(_, value)| !value.raw);
        let refers = |value: &str| value.contains(['$', '%']);
        if !own().any(|(_, value)| refers(&value.text)) && !above().any(|(_, value)| refers(value))
        {
            return None;
        }
        let own = own().map(|(key, value)| (&**key, &*value.text));
        super::circle(own.chain(above().map(|(key, value)| (*key, *value))))
    }
}

/// The variables of one job.
#[derive(Clone, Copy)]
pub(crate) struct View<'l> {
    beneath: &'l ByName<'l>,
    above: Option<&'l ByName<'l>>,
    yaml: &'l Values,
    job: &'l [(&'static str, Cow<'l, str>)],
}

impl<'l> View<'l> {
    pub(crate) fn get(&self, name: &str) -> Option<&'l str> {
        if let Some(value) = self.above.and_then(|above| above.get(name)) {
            return Some(value);
        }
        if let Some(value) = self.yaml.get(name) {
            return Some(&value.text);
        }
        if let Some(value) = self.beneath.get(name) {
            return Some(value);
        }
        self.job.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
    }
}

fn by_name<'v>(variables: impl IntoIterator<Item = &'v Variable>) -> ByName<'v> {
    let pair = |variable: &'v Variable| (variable.key.as_str(), variable.value.as_str());
    variables.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::{ScopedVariable, Variable, in_scope};

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
}
