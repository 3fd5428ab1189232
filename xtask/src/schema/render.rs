//! `schema.rs` as diesel's macros want it.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

use super::model::{Column, Table};
use crate::workspace::{cargo, root};

const HEAD: &str =
    "//! Every table as diesel sees it, written by `cargo xtask schema` from the migrations.\n";

/// Names that are words of the language, and so need another name in Rust.
const KEYWORDS: &[&str] =
    &["type", "ref", "move", "use", "match", "mod", "static", "where", "final", "override"];

pub(super) fn text(tables: &[Table]) -> Result<String> {
    let mut text = HEAD.to_owned();
    for table in tables {
        write_table(&mut text, table)?;
    }
    for (child, parent, column) in joins(tables) {
        writeln!(text, "diesel::joinable!({child} -> {parent} ({column}));")?;
    }
    if tables.len() > 1 {
        let names = tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>().join(", ");
        writeln!(text, "\ndiesel::allow_tables_to_appear_in_same_query!({names});")?;
    }
    formatted(&text)
}

fn write_table(text: &mut String, table: &Table) -> Result<()> {
    ensure!(!table.key.is_empty(), "table {} has no primary key", table.name);
    writeln!(text, "\ndiesel::table! {{\n    {} ({}) {{", table.name, table.key.join(", "))?;
    for column in &table.columns {
        write_column(text, column)?;
    }
    writeln!(text, "    }}\n}}")?;
    Ok(())
}

fn write_column(text: &mut String, column: &Column) -> Result<()> {
    let (name, sql_type) = (&column.name, column.type_text());
    if KEYWORDS.contains(&name.as_str()) {
        writeln!(text, "        #[sql_name = \"{name}\"]\n        {name}_ -> {sql_type},")?;
    } else {
        writeln!(text, "        {name} -> {sql_type},")?;
    }
    Ok(())
}

/// Foreign keys that can be told by the pair of tables alone; diesel knows no second one between them.
fn joins(tables: &[Table]) -> Vec<(&str, &str, &str)> {
    let mut joins = Vec::new();
    for table in tables {
        for reference in &table.references {
            let same =
                table.references.iter().filter(|other| other.table == reference.table).count();
            if let ([column], 1, true) = (&*reference.columns, same, reference.table != table.name)
            {
                joins.push((table.name.as_str(), reference.table.as_str(), column.as_str()));
            }
        }
    }
    joins.retain(|(child, parent, _)| {
        let back =
            tables.iter().filter(|table| table.name == *parent).flat_map(|table| &table.references);
        !back.into_iter().any(|reference| reference.table == *child)
    });
    joins.sort_unstable();
    joins
}

fn formatted(text: &str) -> Result<String> {
    let rustfmt = std::path::Path::new(cargo().get_program()).with_file_name("rustfmt");
    let program = if rustfmt.is_file() { rustfmt } else { "rustfmt".into() };
    let mut child = Command::new(program)
        .args(["--edition", "2024", "--config-path"])
        .arg(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting rustfmt")?;
    child.stdin.take().context("rustfmt takes no input")?.write_all(text.as_bytes())?;
    let done = child.wait_with_output()?;
    ensure!(done.status.success(), "rustfmt refuses the generated schema");
    Ok(String::from_utf8(done.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::{super::model::Reference, *};

    fn table(name: &str, columns: &[(&str, bool)], references: &[(&str, &str)]) -> Table {
        let columns = columns.iter().map(|(name, nullable)| Column {
            name: (*name).to_owned(),
            sql_type: "BigInt",
            nullable: *nullable,
        });
        let references = references.iter().map(|(column, table)| Reference {
            columns: vec![(*column).to_owned()],
            table: (*table).to_owned(),
            on_delete: "CASCADE".to_owned(),
        });
        Table {
            name: name.to_owned(),
            key: vec!["id".to_owned()],
            columns: columns.collect(),
            references: references.collect(),
            indexes: vec![],
        }
    }

    #[test]
    fn a_table_has_its_key_its_types_and_its_join() {
        let jobs = table("jobs", &[("id", false), ("type", true)], &[("project_id", "projects")]);
        let projects = table("projects", &[("id", false)], &[]);

        let text = text(&[jobs, projects]).unwrap();

        assert!(text.contains("    jobs (id) {\n        id -> BigInt,\n"), "{text}");
        assert!(
            text.contains("#[sql_name = \"type\"]\n        type_ -> Nullable<BigInt>,"),
            "{text}"
        );
        assert!(text.contains("joinable!(jobs -> projects (project_id));"), "{text}");
        assert!(text.contains("allow_tables_to_appear_in_same_query!(jobs, projects"), "{text}");
    }

    #[test]
    fn two_keys_to_one_table_make_no_join() {
        let jobs =
            table("jobs", &[("id", false)], &[("author_id", "users"), ("runner_id", "users")]);

        assert!(joins(&[jobs, table("users", &[("id", false)], &[])]).is_empty());
    }
}
