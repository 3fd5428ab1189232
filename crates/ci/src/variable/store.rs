//! Variables in the database.

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    listing::{Bind, rows},
    schema::variables,
};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId, VariableId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Variable, VariableOwner, VariableType, rules::Usage};

pub trait VariableStore {
    /// A page, oldest first.
    fn variables(&mut self, home: VariableOwner, page: PageRequest) -> Result<Page<Variable>>;
    /// Those of one name: one for each scope.
    fn variables_named(&mut self, home: VariableOwner, key: &str) -> Result<Vec<Variable>>;
    /// Those that reach a project from itself, these groups and the installation, oldest first; protected ones on request.
    fn variables_reaching(
        &mut self,
        project: ProjectId,
        groups: &[NamespaceId],
        with_protected: bool,
    ) -> Result<Vec<Variable>>;
    fn insert_variable(&mut self, variable: &Variable) -> Result<Variable>;
    fn update_variable(&mut self, variable: &Variable) -> Result<()>;
    fn delete_variable(&mut self, id: VariableId) -> Result<()>;
}

/// Counts of variables for the limits.
pub(super) trait UsageStore {
    fn variable_usage(&mut self, home: VariableOwner) -> Result<Usage>;
}

/// The variables of one place, as a filter for each kind of it.
macro_rules! of_home {
    ($home:expr, |$rows:ident| $query:expr) => {
        match $home {
            VariableOwner::Instance => {
                let nowhere =
                    variables::project_id.is_null().and(variables::namespace_id.is_null());
                let $rows = || variables::table.filter(nowhere);
                $query
            }
            VariableOwner::Group(id) => {
                let $rows = || variables::table.filter(variables::namespace_id.eq(id));
                $query
            }
            VariableOwner::Project(id) => {
                let $rows = || variables::table.filter(variables::project_id.eq(id));
                $query
            }
        }
    };
}

impl VariableStore for Tx<'_> {
    fn variables(&mut self, home: VariableOwner, page: PageRequest) -> Result<Page<Variable>> {
        of_home!(home, |rows| each_backend!(self, |conn| {
            let items = rows()
                .order(variables::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(Variable::as_select())
                .load(conn)
                .map_err(error("Variable"))?;
            let counted = CountOf(rows().select(variables::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Variable"))?;
            Ok(Page { items, total: Total::Counted(total) })
        }))
    }

    fn variables_named(&mut self, home: VariableOwner, key: &str) -> Result<Vec<Variable>> {
        of_home!(home, |rows| each_backend!(self, |conn| rows()
            .filter(variables::key.eq(key))
            .order(variables::id)
            .select(Variable::as_select())
            .load(conn)
            .map_err(error("Variable"))))
    }

    fn variables_reaching(
        &mut self,
        project: ProjectId,
        groups: &[NamespaceId],
        with_protected: bool,
    ) -> Result<Vec<Variable>> {
        let nowhere = variables::project_id.is_null().and(variables::namespace_id.is_null());
        let near = variables::project_id.eq(project);
        let above = variables::namespace_id.one_of(groups);
        let open = variables::protected.eq(false).or(variables::protected.eq(with_protected));
        each_backend!(self, |conn| variables::table
            .filter(near.or(above).or(nowhere).assume_not_null())
            .filter(open)
            .order(variables::id)
            .select(Variable::as_select())
            .load(conn)
            .map_err(error("Variable")))
    }

    fn insert_variable(&mut self, variable: &Variable) -> Result<Variable> {
        let row = (
            variables::project_id.eq(variable.project_id),
            variables::namespace_id.eq(variable.namespace_id),
            variables::key.eq(&variable.key),
            variables::hidden.eq(variable.hidden),
            variables::created_at.eq(variable.created_at),
            VariableColumns::from(variable),
        );
        let insert = diesel::insert_into(variables::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Variable::as_returning())
            .get_result(conn)
            .map_err(error("Variable")))
    }

    fn update_variable(&mut self, variable: &Variable) -> Result<()> {
        let row =
            diesel::update(variables::table.find(variable.id)).set(VariableColumns::from(variable));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Variable")))?;
        Ok(())
    }

    fn delete_variable(&mut self, id: VariableId) -> Result<()> {
        let row = diesel::delete(variables::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Variable")))?;
        Ok(())
    }
}

impl UsageStore for Tx<'_> {
    fn variable_usage(&mut self, home: VariableOwner) -> Result<Usage> {
        let (of_home, binds) = match home {
            VariableOwner::Instance => ("project_id IS NULL AND namespace_id IS NULL", Vec::new()),
            VariableOwner::Group(id) => ("namespace_id = $1", vec![Bind::Number(id.0)]),
            VariableOwner::Project(id) => ("project_id = $1", vec![Bind::Number(id.0)]),
        };
        let sql = format!(
            "SELECT COUNT(*) AS count, COALESCE(SUM(LENGTH(sealed)), 0) AS bytes FROM variables WHERE {of_home}"
        );
        let found: Vec<UsageRow> = rows(self, &sql, &binds)?;
        Ok(found.first().map_or(Usage { count: 0, bytes: 0 }, |row| Usage {
            count: row.count,
            bytes: row.bytes,
        }))
    }
}

#[derive(QueryableByName)]
struct UsageRow {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// The columns that a change may set.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = variables, treat_none_as_null = true)]
struct VariableColumns<'v> {
    kind: VariableType,
    sealed: &'v str,
    protected: bool,
    masked: bool,
    raw: bool,
    environment_scope: &'v str,
    description: Option<&'v str>,
    updated_at: Ts,
}

impl<'v> From<&'v Variable> for VariableColumns<'v> {
    fn from(variable: &'v Variable) -> Self {
        Self {
            kind: variable.kind,
            sealed: &variable.sealed,
            protected: variable.protected,
            masked: variable.masked,
            raw: variable.raw,
            environment_scope: &variable.environment_scope,
            description: variable.description.as_deref(),
            updated_at: variable.updated_at,
        }
    }
}
