//! What a build costs: seconds by crate, the size of the binary by section and crate, and how often generic functions
//! were compiled.

mod binary;
mod functions;
mod timings;

use std::{fs, path::PathBuf, time::Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::workspace::{self, cargo, root, shown};

#[derive(Args)]
pub(crate) struct Options {
    /// The development build instead of the release build
    #[arg(long)]
    debug: bool,
    /// Build everything anew, in a folder of its own, so that every crate has its seconds
    #[arg(long)]
    clean: bool,
    /// Measure a binary that is already there, and build nothing
    #[arg(long, conflicts_with_all = ["debug", "clean"])]
    binary: Option<PathBuf>,
    /// Fail when one function has more copies than this
    #[arg(long, value_name = "NUMBER")]
    max_copies: Option<usize>,
    /// Lines of each table
    #[arg(long, value_name = "NUMBER", default_value_t = 25)]
    top: usize,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => build(options)?,
    };
    let bytes = fs::read(&binary).with_context(|| binary.display().to_string())?;
    println!("\n## {}\n", shown(&binary));
    let functions = binary::report(&bytes, options.top)?;
    let most = functions::report(&functions, options.top);
    if let Some(limit) = options.max_copies {
        ensure!(most <= limit, "a function has {most} copies, {limit} are allowed");
    }
    Ok(())
}

/// Builds the product, tells how long that took, and says where the binary is.
fn build(options: &Options) -> Result<PathBuf> {
    let profile = if options.debug { "debug" } else { "release" };
    let target = target_folder()?;
    let target = if options.clean { target.join("build-report") } else { target };
    if options.clean && target.exists() {
        fs::remove_dir_all(&target).with_context(|| target.display().to_string())?;
    }
    let mut build = cargo();
    build.args(["build", "--package", "forgeway-gateway", "--timings"]);
    if !options.debug {
        // The names of functions are what is counted.
        build.args(["--release", "--config", "profile.release.strip=false"]);
    }
    let (started, before) = (Instant::now(), timings::cpu_seconds());
    workspace::run(build.arg("--target-dir").arg(&target))?;
    let wall = started.elapsed().as_secs_f64();
    let cpu = timings::cpu_seconds().zip(before).map(|(after, before)| after - before);
    timings::report(&target.join("cargo-timings/cargo-timing.html"), wall, cpu, options.top)?;
    Ok(target.join(profile).join("forgeway"))
}

fn target_folder() -> Result<PathBuf> {
    let text = workspace::output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let document: serde_json::Value = serde_json::from_str(&text)?;
    let folder = document["target_directory"].as_str();
    Ok(folder.map_or_else(|| root().join("target"), PathBuf::from))
}

/// A table whose first columns are numbers, aligned for a terminal.
fn table(head: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].len()]).max().unwrap_or_default()
    };
    let line = |cells: Vec<&str>| {
        let last = cells.len() - 1;
        let aligned = cells.iter().enumerate().map(|(column, cell)| match column == last {
            true => (*cell).to_owned(),
            false => format!("{cell:>width$}", width = width(column)),
        });
        println!("{}", aligned.collect::<Vec<_>>().join("  "));
    };
    line(head.to_vec());
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
    println!();
}

/// A size as people read it.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_960), "1.9 kB");
        assert_eq!(size(104_200_000), "104.2 MB");
    }
}
