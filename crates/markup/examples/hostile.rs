//! How long hostile texts of one mebibyte take: `cargo run --release -p forgeway-markup --example hostile`.

use std::{
    io::{self, Write},
    time::Instant,
};

use forgeway_markup::{Links, hostile, render};

fn main() -> io::Result<()> {
    let size = std::env::args().nth(1).and_then(|size| size.parse().ok()).unwrap_or(1 << 20);
    let links = Links::of_wiki("/group/project/-/wikis", "folder");
    let mut times = Vec::new();
    for (name, format, text) in hostile::texts(size) {
        let began = Instant::now();
        let html = render(&text, format, &links);
        times.push((began.elapsed().as_millis(), name, format, text.len(), html.len()));
        drop(html);
    }
    times.sort_by_key(|row| std::cmp::Reverse(row.0));
    let mut out = io::stdout().lock();
    for (millis, name, format, bytes, html) in times {
        writeln!(out, "{millis:>6} ms  {bytes:>8} -> {html:>9} bytes  {format:?}: {name:?}")?;
    }
    Ok(())
}
