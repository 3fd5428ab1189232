//! All variables that reach the jobs of a pipeline, in the order in which they win over one another.

use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};
use secrets::Vault;

use super::{Variable, VariableOwner, VariableStore as _, VariableType};
use crate::config::variables::{self as language, ScopedVariable};

/// Whether the branch or tag of a pipeline is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefProtection {
    Protected,
    Unprotected,
}

/// Returns the variables for a pipeline in layers of rising precedence: instance, groups from the top-level one down,
/// project. `groups` are the ancestors of the project, nearest first. Protected variables are included only for a
/// protected ref. [`in_scope`](language::in_scope) then picks those for the environment of a job. One query.
pub fn for_pipeline(
    tx: &mut Tx<'_>,
    vault: &Vault,
    project: ProjectId,
    groups: &[NamespaceId],
    ref_protection: RefProtection,
) -> Result<Vec<Vec<ScopedVariable>>> {
    let found =
        tx.variables_reaching(project, groups, ref_protection == RefProtection::Protected)?;
    let mut layers = vec![Vec::new(); groups.len() + 2];
    for variable in found {
        let layer = match variable.home() {
            VariableOwner::Instance => 0,
            VariableOwner::Group(group) => {
                let above = groups.iter().position(|one| *one == group).unwrap_or(groups.len());
                groups.len() - above
            }
            VariableOwner::Project(_) => groups.len() + 1,
        };
        layers[layer].push(scoped(vault, variable)?);
    }
    Ok(layers)
}

fn scoped(vault: &Vault, variable: Variable) -> Result<ScopedVariable> {
    let value = variable.value(vault)?.into_revealed();
    Ok(ScopedVariable {
        variable: language::Variable {
            masked: variable.masked,
            file: variable.kind == VariableType::File,
            raw: variable.raw,
            ..language::Variable::secret(variable.key, value)
        },
        environment_scope: variable.environment_scope,
    })
}
