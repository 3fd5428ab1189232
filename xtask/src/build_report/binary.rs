//! Size of a binary by section and by crate, and its functions.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use object::{File, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

use super::{functions::Function, size, table};

/// Prints the sizes, and gives back the functions.
pub(super) fn report(bytes: &[u8], top: usize) -> Result<Vec<Function>> {
    let file = File::parse(bytes)?;
    sections(&file, u64::try_from(bytes.len())?);
    let functions = functions(&file);
    ensure!(!functions.is_empty(), "the binary has no names of functions: it is stripped");
    by_crate(&functions, top);
    Ok(functions)
}

fn sections(file: &File<'_>, all: u64) {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for section in file.sections() {
        let name = section.name().unwrap_or_default();
        let name = if name.starts_with(".debug") { ".debug_*" } else { name };
        let bytes = section.file_range().map_or(0, |(_, length)| length);
        *sizes.entry(name.to_owned()).or_default() += bytes;
    }
    let mut rows: Vec<_> = sizes.into_iter().filter(|(_, bytes)| *bytes >= 100_000).collect();
    rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let rows = rows.into_iter().map(|(name, bytes)| vec![size(bytes), name]);
    table(
        &["size", "section"],
        &rows.chain([vec![size(all), "file".to_owned()]]).collect::<Vec<_>>(),
    );
}

/// Each function once, however many names it has.
fn functions(file: &File<'_>) -> Vec<Function> {
    let mut seen = BTreeSet::new();
    let symbols = file.symbols().filter(|symbol| {
        symbol.kind() == SymbolKind::Text && symbol.size() > 0 && seen.insert(symbol.address())
    });
    let named =
        symbols.filter_map(|symbol| Some(Function::new(symbol.name().ok()?, symbol.size())));
    named.collect()
}

fn by_crate(functions: &[Function], top: usize) {
    let mut sizes: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for function in functions {
        let one = sizes.entry(function.home()).or_default();
        *one = (one.0 + 1, one.1 + function.bytes);
    }
    let mut rows: Vec<_> = sizes.into_iter().collect();
    rows.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
    let rows = rows.into_iter().take(top);
    let rows =
        rows.map(|(name, (count, bytes))| vec![size(bytes), count.to_string(), name.to_owned()]);
    table(&["code", "functions", "crate that wrote them"], &rows.collect::<Vec<_>>());
}
