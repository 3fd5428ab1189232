//! A piece of SQL with the values that it speaks of.

use db::listing::Bind;

/// SQL in which each `{}` stands for the next value.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub sql: String,
    pub binds: Vec<Bind>,
}

impl Part {
    pub fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), binds: Vec::new() }
    }

    pub fn with(sql: impl Into<String>, binds: Vec<Bind>) -> Self {
        Self { sql: sql.into(), binds }
    }

    /// The SQL with its values numbered after those that are there already.
    pub fn render(&self, binds: &mut Vec<Bind>) -> String {
        let mut sql = self.sql.clone();
        for bind in &self.binds {
            binds.push(bind.clone());
            sql = sql.replacen("{}", &format!("${}", binds.len()), 1);
        }
        sql
    }
}
