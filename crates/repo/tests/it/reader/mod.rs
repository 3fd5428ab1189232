//! Reads in process, compared with git on a told history and on histories nobody thought of, with and without the
//! files that maintenance writes.

mod ancestry;
mod commits;
mod diff;
mod log;
mod refs;
mod tree;

use forgeway_repo::testing::Fixture;

/// The told history, plain and maintained.
fn told() -> [Fixture; 2] {
    let maintained = Fixture::new();
    maintained.maintain();
    [Fixture::new(), maintained]
}

/// Other histories, plain, maintained, and maintained step by step.
fn chanced() -> Vec<Fixture> {
    (1..=3)
        .map(|seed| {
            let fixture = Fixture::random(seed, 120);
            match seed % 3 {
                0 => fixture.maintain(),
                1 => fixture.maintain_in_layers(),
                _ => {}
            }
            fixture
        })
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
