//! Variables that whoever pushes sets for the pipelines of the push: `git push -o ci.variable="NAME=value"`.

use ci::{
    pipeline::{PipelineVariable, Source},
    policy::CreatePipelines,
};
use db::Tx;
use kernel::{Ability as _, Error, Result, Standing, ids::ProjectId};
use repo::push::PipelineOptions;
use secrets::{Secret, Vault};

use super::make::ensure_variables;
use crate::Forge;

/// Of each name the last value counts.
pub(super) fn passed_variables(options: Vec<(String, String)>) -> Vec<PipelineVariable> {
    let mut passed: Vec<PipelineVariable> = Vec::with_capacity(options.len());
    for (key, value) in options {
        passed.retain(|one| one.key != key);
        passed.push(PipelineVariable::plain(key, value));
    }
    passed
}

/// Names and values as one sealed text; `None` where there are none.
pub(super) fn seal(
    vault: &Vault,
    place: &str,
    variables: &[(String, String)],
) -> Result<Option<String>> {
    if variables.is_empty() {
        return Ok(None);
    }
    let text = Secret::new(serde_json::to_string(variables).map_err(Error::internal)?);
    vault.seal(place, &text).map(Some).map_err(Error::internal)
}

/// Undoes [`seal`]; `None` without its key.
pub(super) fn unseal(vault: &Vault, place: &str, sealed: &str) -> Option<Vec<(String, String)>> {
    let text = vault.unseal(place, sealed).ok()?;
    serde_json::from_str(text.reveal()).ok()
}

/// Why a push makes no pipeline with the variables of its options, for the pusher to read.
///
/// # Errors
/// When the database cannot be read.
pub async fn refused_push_options(
    forge: &Forge,
    who: Standing,
    project: ProjectId,
    options: &[String],
) -> Result<Option<String>> {
    let variables = passed_variables(PipelineOptions::parse(options).variables);
    if variables.is_empty() || !CreatePipelines::allows(&who) {
        return Ok(None);
    }
    let ensure =
        move |tx: &mut Tx<'_>| ensure_variables(tx, &who, project, Source::Push, &variables);
    match forge.db.read(ensure).await {
        Ok(()) => Ok(None),
        Err(failure) => {
            let texts = failure.into_fields()?.into_iter().flat_map(|(field, texts)| {
                let field = if field == "base" { String::new() } else { format!("{field} ") };
                texts.into_iter().map(move |text| format!("{field}{text}"))
            });
            Ok(Some(texts.collect::<Vec<_>>().join("; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use secrets::Vault;

    use super::{passed_variables, seal, unseal};

    fn named(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let passed = passed_variables(vec![named("A", "1"), named("B", "2"), named("A", "3")]);
        let shown: Vec<_> = passed.iter().map(|one| (&*one.key, &*one.value)).collect();
        assert_eq!(shown, [("B", "2"), ("A", "3")]);
    }

    #[test]
    fn what_waits_is_sealed_for_its_push() {
        let data = tempfile::tempdir().unwrap();
        let vault = Vault::find_or_make(data.path()).unwrap();
        let variables = [named("A", "clear text")];
        let sealed = seal(&vault, "here", &variables).unwrap().unwrap();
        assert!(!sealed.contains("clear"));
        assert_eq!(unseal(&vault, "here", &sealed).unwrap(), variables);
        assert_eq!(unseal(&vault, "there", &sealed), None);
        assert_eq!(seal(&vault, "here", &[]).unwrap(), None);
    }
}
