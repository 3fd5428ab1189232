//! Seconds by crate, out of the page that `cargo build --timings` writes.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::table;

/// The line of the page that holds what was built.
const UNITS: &str = "const UNIT_DATA = ";

/// What the parts of one crate took: its build script, and its library or program.
#[derive(Default)]
struct Crate {
    seconds: f64,
    /// Of these, those after others could begin to build upon it.
    after_metadata: f64,
}

pub(super) fn report(page: &Path, wall: f64, cpu: Option<f64>, top: usize) -> Result<()> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let crates = crates(&text).context("the page of cargo's timings has another form")?;
    let cpu = cpu.map(|cpu| format!(", {cpu:.0} s of processor time")).unwrap_or_default();
    println!("\n## Build: {wall:.0} s{cpu}, {} crates compiled\n", crates.len());
    let mut rows: Vec<_> = crates.into_iter().collect();
    rows.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
    let rows = rows.into_iter().take(top).map(|(name, one)| {
        vec![format!("{:.1}", one.seconds), format!("{:.1}", one.after_metadata), name]
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        table(&["seconds", "of it code", "crate"], &rows);
    }
    Ok(())
}

fn crates(page: &str) -> Option<BTreeMap<String, Crate>> {
    let (_, rest) = page.split_once(UNITS)?;
    // The array ends where a JSON value ends, whatever follows.
    let units = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    for unit in units.as_array()? {
        let name = format!("{} {}", unit["name"].as_str()?, unit["version"].as_str()?);
        let duration = unit["duration"].as_f64()?;
        let one = crates.entry(name).or_default();
        one.seconds += duration;
        one.after_metadata += unit["rmeta_time"].as_f64().map_or(0.0, |time| duration - time);
    }
    Some(crates)
}

/// The processor time of all programs that this one has started and seen end; known on Linux.
pub(super) fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold blanks.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: f64 = ticks.map(|one| one.parse::<f64>().ok()).sum::<Option<f64>>()?;
    // The unit in which the kernel tells it to programs is a hundredth on every architecture.
    Some(ticks / 100.0)
}

#[cfg(test)]
mod tests {
    use super::crates;

    #[test]
    fn the_parts_of_a_crate_are_added_up() {
        let page = r#"<script>
            const UNIT_DATA = [
              {"name": "a", "version": "1.0.0", "duration": 2.5, "rmeta_time": 1.0},
              {"name": "a", "version": "1.0.0", "duration": 0.5, "rmeta_time": null}
            ];
            const CONCURRENCY_DATA = [];"#;
        let crates = crates(page).unwrap();

        let one = &crates["a 1.0.0"];
        assert_eq!((one.seconds, one.after_metadata), (3.0, 1.5));
        assert_eq!(crates.len(), 1);
    }
}
