//! `include`: files of this project, of others, from addresses, and templates, merged beneath the file that names them.

mod location;
mod source;

use std::{collections::HashMap, time::Instant};

pub(super) use location::url;

use super::{
    StepFailure,
    entry::{self, Report},
    evaluate::Evaluation,
    includes::{Include, IncludeKind},
    input::{PipelineInput, Tree},
    merge::{Budget, deep_merge},
    node::{Entries, Map, Node},
    variables::{Lookup, UnknownVariable},
    yaml,
};
use location::{Location, locations};

/// The document with all that it includes, and the list of that.
pub(super) fn include(
    document: &Map,
    given: &PipelineInput<'_>,
    report: &mut Report,
    budget: &mut Budget,
) -> Result<(Map, Vec<Include>), StepFailure> {
    if !document.contains("include") {
        return Ok((document.clone(), Vec::new()));
    }
    let lookup = Lookup::new(given.variables);
    let mut inclusion = Inclusion {
        given,
        lookup: &lookup,
        report,
        budget,
        found: Vec::new(),
        read: HashMap::new(),
        depth: 0,
    };
    let merged = inclusion.document(document, given.tree);
    let found = inclusion.found;
    match lookup.is_exhausted() {
        true => Err(StepFailure::too_big()),
        false => Ok((merged?, found)),
    }
}

/// Files may include one another so deep, however many an administrator allows: each takes room on the stack.
const DEEPEST: usize = 150;

fn too_many(most: usize) -> StepFailure {
    StepFailure::problem(format!("Maximum of {most} nested includes are allowed!"))
}

struct Inclusion<'i, 'g> {
    given: &'i PipelineInput<'g>,
    lookup: &'i Lookup<'i>,
    report: &'i mut Report,
    budget: &'i mut Budget,
    found: Vec<Include>,
    /// Files read before: a file may be included from many places.
    read: HashMap<(String, String, String), Node>,
    /// How many files are open that include one another.
    depth: usize,
}

impl Inclusion<'_, '_> {
    /// What the document includes, merged in the order given, and the document over that.
    fn document(&mut self, document: &Map, tree: &dyn Tree) -> Result<Map, StepFailure> {
        let Some(written) = document.get("include") else { return Ok(document.clone()) };
        let locations = locations(self, written, tree)?;
        let first = self.found.len();
        for location in &locations {
            let include = self.described(location, tree);
            self.found.push(include);
            if self.found.len() > self.given.limits.includes {
                return Err(too_many(self.given.limits.includes));
            }
        }
        if self.depth > DEEPEST {
            return Err(too_many(DEEPEST));
        }
        self.depth += 1;
        let mut merged = Map::new(Entries::default());
        for (index, location) in locations.iter().enumerate() {
            let file = self.file(location, tree, first + index)?;
            merged = deep_merge(&merged, &file);
        }
        self.depth -= 1;
        Ok(deep_merge(&merged, document).without("include"))
    }

    fn file(
        &mut self,
        location: &Location,
        tree: &dyn Tree,
        place: usize,
    ) -> Result<Map, StepFailure> {
        self.ensure_time()?;
        if self.lookup.is_exhausted() {
            return Err(StepFailure::too_big());
        }
        self.ensure_sound(location)?;
        match location {
            Location::Project { project, reference, .. } => {
                let other = source::project(self, project, reference.as_deref())?;
                if let Some(include) = self.found.get_mut(place) {
                    include.at = Some((other.project().to_owned(), other.sha().to_owned()));
                }
                self.contents(location, other.as_ref())
            }
            _ => self.contents(location, tree),
        }
    }

    /// The file as a document, with what it includes itself; names in that are looked up where the file lies.
    fn contents(&mut self, location: &Location, tree: &dyn Tree) -> Result<Map, StepFailure> {
        let key = (tree.project().to_owned(), tree.sha().to_owned(), location.key());
        let node = match self.read.get(&key) {
            Some(node) => node.clone(),
            None => {
                let Some(text) = source::text(self, location, tree)? else {
                    return Ok(Map::new(Entries::default()));
                };
                let node = self.parsed(location, &text)?;
                self.read.insert(key, node.clone());
                node
            }
        };
        self.budget.take(node.weight()).map_err(StepFailure::problem)?;
        let map = node.as_map().map_or_else(|| Map::new(Entries::default()), Map::clone);
        self.document(&map, tree)
    }

    fn parsed(&self, location: &Location, text: &str) -> Result<Node, StepFailure> {
        match yaml::parse_within(&self.given.limits, text) {
            Ok(Some(node)) if node.as_map().is_some_and(|map| !map.is_empty()) => Ok(node),
            Err(fault @ yaml::Fault::TooBig) => Err(StepFailure::problem(fault.to_string())),
            _ => Err(StepFailure::problem(format!(
                "Included file `{}` does not have valid YAML syntax!",
                self.masked(location.name())
            ))),
        }
    }

    fn ensure_time(&self) -> Result<(), StepFailure> {
        if self.given.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(StepFailure::late());
        }
        Ok(())
    }

    /// What can be said of a location without going there.
    fn ensure_sound(&self, location: &Location) -> Result<(), StepFailure> {
        let name = self.masked(location.name());
        if let Location::Odd(_) = location {
            let text = format!("Included file `{name}` needs to be a string");
            return Err(StepFailure::problem(text));
        }
        let file = location.name().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let stem = file.strip_suffix(".yml").or_else(|| file.strip_suffix(".yaml"));
        if stem.is_none_or(str::is_empty) {
            let text = format!("Included file `{name}` does not have YAML extension!");
            return Err(StepFailure::problem(text));
        }
        match location {
            Location::Remote(address) if url(address).is_none() => Err(StepFailure::problem(
                format!("Remote file `{name}` does not have a valid address!"),
            )),
            Location::Template(template) if !template.ends_with(source::TEMPLATE_END) => Err(
                StepFailure::problem(format!("Template file `{name}` is not a valid location!")),
            ),
            _ => Ok(()),
        }
    }

    fn described(&self, location: &Location, tree: &dyn Tree) -> Include {
        let context = (tree.project().to_owned(), tree.sha().to_owned());
        let (kind, extra) = match location {
            Location::Local(_) | Location::Odd(_) => (IncludeKind::Local, None),
            Location::Remote(_) => (IncludeKind::Remote, None),
            Location::Template(_) => (IncludeKind::Template, None),
            Location::Artifact { .. } => (IncludeKind::Artifact, None),
            Location::Project { project, reference, .. } => {
                let reference = reference.as_deref().unwrap_or("HEAD");
                (IncludeKind::File, Some((self.masked(project), self.masked(reference))))
            }
        };
        let at = matches!(location, Location::Local(_)).then(|| context.clone());
        Include { kind, location: self.masked(location.name()), at, extra, context }
    }

    /// A text with variables written out.
    fn expanded(&self, text: &str) -> String {
        let none = entry::Values::default();
        let view = self.lookup.of(None, &none, &[]);
        view.expand(text, UnknownVariable::Vanishes).into_owned()
    }

    /// A text that may be shown: values that are masked are not in it.
    fn masked(&self, text: &str) -> String {
        let scoped = self.given.variables.above.iter().flatten().map(|scoped| &scoped.variable);
        let all = self.given.variables.beneath.iter().chain(scoped);
        let hidden = all.filter(|variable| variable.masked && !variable.value.is_empty());
        // Looked for in the text as it is: values may overlap.
        let mut is_hidden = vec![false; text.len()];
        for variable in hidden {
            for (at, value) in text.match_indices(&*variable.value) {
                is_hidden[at..at + value.len()].fill(true);
            }
        }
        text.char_indices().map(|(at, sign)| if is_hidden[at] { 'x' } else { sign }).collect()
    }

    /// Whether rules let it be included.
    fn is_wanted(&mut self, rules: &Node, tree: &dyn Tree) -> Result<bool, StepFailure> {
        let mark = self.report.problems.len();
        let parsed = entry::include_rules(self.report, rules);
        let problem = self.report.problems.get(mark).cloned();
        self.report.problems.truncate(mark);
        if let Some(problem) = problem {
            return Err(StepFailure::problem(problem));
        }
        let none = entry::Values::default();
        let view = self.lookup.of(None, &none, &[]);
        let mut evaluation = Evaluation::new(self.given, tree, &mut self.report.patterns);
        let rules = parsed.unwrap_or_default();
        let rule = evaluation
            .first(&rules, view)
            .map_err(|stop| stop.map(|problem| format!("include:{problem}")))?;
        Ok(rule.is_some_and(|rule| rule.when.as_deref() != Some("never")))
    }
}
