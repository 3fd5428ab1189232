//! Strongly connected parts of a graph: what leads back to itself.

/// The parts in the order in which a search from the first place on leaves them; in each the places in the order in which
/// it came to them. The search keeps its own stack: a chain may be as long as a file.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        edges,
        number: vec![None; edges.len()],
        lowest: vec![0; edges.len()],
        left: vec![false; edges.len()],
        reached: Vec::new(),
        count: 0,
        found: Vec::new(),
    };
    for place in 0..edges.len() {
        search.from(place);
    }
    search.found
}

struct Search<'e> {
    edges: &'e [Vec<usize>],
    /// When each place was come to.
    number: Vec<Option<usize>>,
    /// The earliest place that can be reached from each.
    lowest: Vec<usize>,
    left: Vec<bool>,
    reached: Vec<usize>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn from(&mut self, start: usize) {
        if self.number[start].is_some() {
            return;
        }
        let mut stack = vec![(start, 0)];
        self.enter(start);
        while let Some((place, next)) = stack.pop() {
            let Some(neighbour) = self.edges[place].get(next).copied() else {
                self.leave(place);
                if let Some((parent, _)) = stack.last() {
                    self.lowest[*parent] = self.lowest[*parent].min(self.lowest[place]);
                }
                continue;
            };
            stack.push((place, next + 1));
            match self.number[neighbour] {
                None => {
                    self.enter(neighbour);
                    stack.push((neighbour, 0));
                }
                Some(number) if !self.left[neighbour] => {
                    self.lowest[place] = self.lowest[place].min(number);
                }
                Some(_) => {}
            }
        }
    }

    fn enter(&mut self, place: usize) {
        self.number[place] = Some(self.count);
        self.lowest[place] = self.count;
        self.count += 1;
        self.reached.push(place);
    }

    /// Ends a place; what began with it and leads back to it is one part.
    fn leave(&mut self, place: usize) {
        if self.number[place] != Some(self.lowest[place]) {
            return;
        }
        let from = self.reached.iter().rposition(|reached| *reached == place).unwrap_or_default();
        let part = self.reached.split_off(from);
        for member in &part {
            self.left[*member] = true;
        }
        self.found.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn what_leads_back_to_itself_is_one_part() {
        let parts = components(&[vec![2], vec![0], vec![1], vec![0, 4], vec![]]);

        assert_eq!(parts, [vec![0, 2, 1], vec![4], vec![3]]);
    }

    #[test]
    fn a_long_chain_is_no_matter() {
        let mut edges: Vec<Vec<usize>> = (1..=200_000).map(|next| vec![next]).collect();
        edges.push(vec![0]);

        assert_eq!(components(&edges).len(), 1);
    }
}
