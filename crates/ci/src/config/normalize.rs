//! Jobs with their copies: a parallel job is many, and who needs it needs all of them.

use std::{collections::HashMap, sync::Arc};

use indexmap::IndexMap;

use super::{
    StepFailure,
    entry::{JobEntry, Need, Values, VariableValue},
    merge::Budget,
    options::Parallel,
};

/// What a job costs beside its name, in letters.
const STEP: u64 = 256;

/// A job, or one copy of a parallel one.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) name: Arc<str>,
    pub(super) entry: Arc<JobEntry>,
    /// Its number among its copies, from one.
    pub(super) instance: Option<u64>,
    /// What the matrix sets for it.
    pub(super) matrix: Values,
    /// With the copies of what is needed.
    pub(super) needs: Option<Arc<[Need]>>,
    /// Those that rules have of their own, rule by rule.
    pub(super) rule_needs: Arc<[Option<Arc<[Need]>>]>,
    pub(super) dependencies: Option<Arc<[String]>>,
}

/// By name, in the order of the configuration.
pub(super) type Jobs = IndexMap<Arc<str>, Job, ahash::RandomState>;

pub(super) fn normalize(entries: Vec<JobEntry>, budget: &mut Budget) -> Result<Jobs, StepFailure> {
    let mut copies: HashMap<Arc<str>, Arc<[Arc<str>]>> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.options.parallel.is_some()) {
        let names: Vec<Arc<str>> =
            instances(entry).into_iter().map(|instance| instance.name).collect();
        copies.insert(Arc::clone(&entry.name), names.into());
    }
    let mut spreading = JobCopies { copies, budget };
    let mut jobs = Jobs::with_capacity_and_hasher(entries.len(), ahash::RandomState::new());
    for entry in entries {
        spreading.add(&mut jobs, &Arc::new(entry))?;
    }
    Ok(jobs)
}

struct Instance {
    name: Arc<str>,
    number: Option<u64>,
    matrix: Values,
}

/// The copies of a job; a job that is not parallel is its own.
fn instances(entry: &JobEntry) -> Vec<Instance> {
    let name = &entry.name;
    match &entry.options.parallel {
        None => vec![Instance { name: Arc::clone(name), number: None, matrix: Values::default() }],
        Some(Parallel { matrix: None, total, .. }) => (1..=*total)
            .map(|number| Instance {
                name: format!("{name} {number}/{total}").into(),
                number: Some(number),
                matrix: Values::default(),
            })
            .collect(),
        Some(Parallel { matrix: Some(matrix), .. }) => {
            let rows = matrix.iter().flat_map(combinations);
            rows.zip(1..).map(|(row, number)| cell(name, row, number)).collect()
        }
    }
}

fn cell(name: &str, row: Vec<(&str, &str)>, number: u64) -> Instance {
    let values: Vec<&str> = row.iter().map(|(_, value)| *value).collect();
    let value = |text: &str| VariableValue { text: Arc::from(text), raw: false };
    Instance {
        name: format!("{name}: [{}]", values.join(", ")).into(),
        number: Some(number),
        matrix: row.into_iter().map(|(key, text)| (Arc::from(key), value(text))).collect(),
    }
}

/// Each choice of one value for every variable, the last one turning fastest.
fn combinations(dimensions: &super::options::Dimensions) -> Vec<Vec<(&str, &str)>> {
    let mut rows: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for (key, values) in dimensions {
        rows = rows
            .into_iter()
            .flat_map(|row| {
                values.iter().map(move |value| {
                    let mut longer = row.clone();
                    longer.push((key.as_str(), value.as_str()));
                    longer
                })
            })
            .collect();
    }
    rows
}

struct JobCopies<'b> {
    copies: HashMap<Arc<str>, Arc<[Arc<str>]>>,
    budget: &'b mut Budget,
}

impl JobCopies<'_> {
    fn add(&mut self, jobs: &mut Jobs, entry: &Arc<JobEntry>) -> Result<(), StepFailure> {
        let needs = entry.needed_jobs().map(|needs| self.needs(needs)).transpose()?;
        let rules = entry.rules.as_deref().unwrap_or_default();
        let rule_needs = rules.iter().map(|rule| {
            let jobs = rule.needs.as_ref().and_then(|needs| needs.jobs.as_deref());
            jobs.map(|needs| self.needs(needs)).transpose()
        });
        let rule_needs: Arc<[_]> = rule_needs.collect::<Result<Vec<_>, StepFailure>>()?.into();
        let names = entry.options.dependencies.as_deref();
        let dependencies = names.map(|names| self.dependencies(names)).transpose()?;
        for instance in instances(entry) {
            self.take(&instance.name)?;
            let job = Job {
                name: Arc::clone(&instance.name),
                entry: Arc::clone(entry),
                instance: instance.number,
                matrix: instance.matrix,
                needs: needs.clone(),
                rule_needs: Arc::clone(&rule_needs),
                dependencies: dependencies.clone(),
            };
            jobs.insert(instance.name, job);
        }
        Ok(())
    }

    fn take(&mut self, name: &str) -> Result<(), StepFailure> {
        let weight = STEP + u64::try_from(name.len()).unwrap_or(u64::MAX);
        self.budget.take(weight).map_err(StepFailure::problem)
    }

    fn needs(&mut self, needs: &[Need]) -> Result<Arc<[Need]>, StepFailure> {
        let mut spread = Vec::with_capacity(needs.len());
        for need in needs {
            let Some(copies) = self.copies.get(need.name.as_str()).cloned() else {
                self.take(&need.name)?;
                spread.push(need.clone());
                continue;
            };
            for name in &*copies {
                self.take(name)?;
                spread.push(Need { name: name.to_string(), ..*need });
            }
        }
        Ok(spread.into())
    }

    fn dependencies(&mut self, names: &[String]) -> Result<Arc<[String]>, StepFailure> {
        let mut spread = Vec::with_capacity(names.len());
        for name in names {
            for name in self.named(name) {
                self.take(&name)?;
                spread.push(name.to_string());
            }
        }
        Ok(spread.into())
    }

    /// The copies of a job, or the one of that name.
    fn named(&self, name: &str) -> Vec<Arc<str>> {
        self.copies.get(name).map_or_else(|| vec![Arc::from(name)], |copies| copies.to_vec())
    }
}
