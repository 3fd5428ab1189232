//! Variables set when a pipeline is created; values are sealed.

use db::{Tx, each_backend, error, schema::pipeline_variables as variables};
use diesel::prelude::*;
use kernel::{Error, Result, ids::PipelineId};
use secrets::{Secret, Vault};

use crate::config::variables::Variable;

kernel::text_enum! {
    /// Whether a job gets a value, or a file that holds it.
    pub enum VariableType { EnvVar = "env_var", File = "file" }
}

/// An index over names must hold them.
pub(crate) const LONGEST_NAME: usize = 255;
/// A runner hands values to processes, which take no longer ones; nor are longer ones expanded.
pub(crate) const LONGEST_VALUE: usize = 64 << 10;
/// All of a pipeline are read for each of its jobs.
const MOST_VARIABLES: usize = 1_000;
const MOST_BYTES: usize = 4 << 20;

/// One variable of one pipeline, in clear.
#[derive(Clone, PartialEq, Eq)]
pub struct PipelineVariable {
    pub key: String,
    pub variable_type: VariableType,
    pub value: String,
    pub raw: bool,
}

impl std::fmt::Debug for PipelineVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PipelineVariable").field("key", &self.key).finish_non_exhaustive()
    }
}

/// For what a value is sealed.
pub(crate) fn place(pipeline: PipelineId, key: &str) -> String {
    format!("variable/pipeline/{pipeline}/{key}")
}

impl PipelineVariable {
    pub fn plain(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            variable_type: VariableType::EnvVar,
            value: value.into(),
            raw: false,
        }
    }

    /// As a job gets it.
    pub fn for_jobs(&self) -> Variable {
        Variable {
            file: self.variable_type == VariableType::File,
            raw: self.raw,
            ..Variable::secret(&self.key, &self.value)
        }
    }

    /// Whether a pipeline may have all of these: names are letters, digits and underscores and come once, and neither
    /// their number nor their size goes beyond what each of its jobs can be given.
    ///
    /// # Errors
    /// `BadRequest` with what is wrong.
    pub fn ensure_sound(all: &[Self]) -> Result<()> {
        if all.len() > MOST_VARIABLES {
            let text = format!("are too many (maximum is {MOST_VARIABLES})");
            return Err(Error::invalid("variables", text));
        }
        all.iter().try_for_each(Self::ensure_fits)?;
        let size: usize = all.iter().map(|variable| variable.value.len()).sum();
        if size > MOST_BYTES {
            let text = format!("are too large together (maximum is {} MiB)", MOST_BYTES >> 20);
            return Err(Error::invalid("variables", text));
        }
        if all.iter().any(|variable| variable.value.contains('\0')) {
            return Err(Error::invalid("variables.value", "cannot contain null bytes."));
        }
        let mut keys: Vec<&str> = all.iter().map(|variable| variable.key.as_str()).collect();
        keys.sort_unstable();
        let twice: Vec<&str> =
            keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        if twice.is_empty() {
            return Ok(());
        }
        let text = format!("have duplicate values ({})", twice.join(", "));
        Err(Error::invalid("variables", text))
    }

    /// A value that becomes a file may be longer than one that becomes part of an environment.
    fn ensure_fits(&self) -> Result<()> {
        let usual = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if self.key.is_empty() || !self.key.bytes().all(usual) {
            let text = "can contain only letters, digits and '_'.";
            return Err(Error::invalid("variables.key", text));
        }
        if self.key.len() > LONGEST_NAME {
            let text = format!("is too long (maximum is {LONGEST_NAME} characters)");
            return Err(Error::invalid("variables.key", text));
        }
        if self.variable_type == VariableType::EnvVar && self.value.len() > LONGEST_VALUE {
            let text = format!("is too long (maximum is {LONGEST_VALUE} characters)");
            return Err(Error::invalid("variables.value", text));
        }
        Ok(())
    }
}

pub trait PipelineVariableStore {
    /// In clear, in the order in which they were given.
    fn pipeline_variables(
        &mut self,
        vault: &Vault,
        pipeline: PipelineId,
    ) -> Result<Vec<PipelineVariable>>;
    fn insert_pipeline_variables(
        &mut self,
        vault: &Vault,
        pipeline: PipelineId,
        all: &[PipelineVariable],
    ) -> Result<()>;
}

/// One variable as it is stored. `clear` is empty, but for rows of before values were sealed, until the server starts the
/// next time.
#[derive(Queryable, Selectable)]
#[diesel(table_name = variables, check_for_backend(db::AnyBackend))]
struct Row {
    pipeline_id: PipelineId,
    key: String,
    variable_type: VariableType,
    clear: String,
    sealed: Option<String>,
    raw: bool,
}

impl Row {
    fn opened(self, vault: &Vault) -> Result<PipelineVariable> {
        let Self { pipeline_id, key, variable_type, clear, sealed, raw } = self;
        let value = match sealed {
            Some(sealed) => vault
                .unseal(&place(pipeline_id, &key), &sealed)
                .map_err(Error::internal)?
                .into_revealed(),
            None => clear,
        };
        Ok(PipelineVariable { key, variable_type, value, raw })
    }
}

impl PipelineVariableStore for Tx<'_> {
    fn pipeline_variables(
        &mut self,
        vault: &Vault,
        pipeline: PipelineId,
    ) -> Result<Vec<PipelineVariable>> {
        let rows: Vec<Row> = each_backend!(self, |conn| variables::table
            .filter(variables::pipeline_id.eq(pipeline))
            .order(variables::id)
            .select(Row::as_select())
            .load(conn)
            .map_err(error("Variable")))?;
        rows.into_iter().map(|row| row.opened(vault)).collect()
    }

    fn insert_pipeline_variables(
        &mut self,
        vault: &Vault,
        pipeline: PipelineId,
        all: &[PipelineVariable],
    ) -> Result<()> {
        for some in all.chunks(100) {
            let row = |one: &PipelineVariable| {
                let sealed = vault.seal(&place(pipeline, &one.key), &Secret::new(&one.value));
                Ok((
                    variables::pipeline_id.eq(pipeline),
                    variables::key.eq(one.key.clone()),
                    variables::variable_type.eq(one.variable_type),
                    variables::clear.eq(""),
                    variables::sealed.eq(Some(sealed.map_err(Error::internal)?)),
                    variables::raw.eq(one.raw),
                ))
            };
            let rows = some.iter().map(row).collect::<Result<Vec<_>>>()?;
            each_backend!(self, |conn| diesel::insert_into(variables::table)
                .values(&rows)
                .execute(conn)
                .map_err(error("Variable")))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PipelineVariable, VariableType};

    fn fault(all: &[PipelineVariable]) -> Option<String> {
        PipelineVariable::ensure_sound(all).err().map(|error| format!("{error:?}"))
    }

    #[test]
    fn names_values_and_numbers_have_an_end() {
        let plain = |key: &str, value: &str| PipelineVariable::plain(key, value);
        let file = |key: &str, size: usize| PipelineVariable {
            variable_type: VariableType::File,
            ..plain(key, &"x".repeat(size))
        };
        assert_eq!(fault(&[plain("A", &"x".repeat(64 << 10)), file("B", 1 << 20)]), None);
        let many: Vec<_> = (0..1_001).map(|number| plain(&format!("K{number}"), "")).collect();
        for (all, told) in [
            (vec![plain("A", &"x".repeat((64 << 10) + 1))], "maximum is 65536"),
            (vec![plain(&"A".repeat(256), "x")], "maximum is 255"),
            (vec![plain("a-b", "x")], "only letters"),
            (vec![file("A", 3 << 20), file("B", 2 << 20)], "maximum is 4 MiB"),
            (many, "maximum is 1000"),
            (vec![plain("A", ""), plain("A", "")], "have duplicate values (A)"),
        ] {
            assert!(fault(&all).is_some_and(|fault| fault.contains(told)), "{told}");
        }
    }

    #[test]
    fn a_value_is_shown_in_no_log() {
        assert!(!format!("{:?}", PipelineVariable::plain("A", "hunter2")).contains("hunter2"));
    }
}
