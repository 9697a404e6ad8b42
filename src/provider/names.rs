//! Host names with `*` for one whole label, and within a label `+` for letters and `#` for digits, as definitions write
//! them.

/// Whether `name` is one of the hosts that `glob` stands for. Case does not matter.
pub(crate) fn matches_labels(glob: &str, name: &str) -> bool {
    let (mut globs, mut labels) = (glob.split('.'), name.split('.'));
    loop {
        match (globs.next(), labels.next()) {
            (None, None) => return true,
            (Some(glob), Some(label)) if !label.is_empty() => {
                if glob != "*" && !matches_label(glob.as_bytes(), label.as_bytes()) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Whether one label fits. `+` and `#` take one character or more, as many as there are: what follows them is another kind.
fn matches_label(glob: &[u8], label: &[u8]) -> bool {
    let Some((first, glob)) = glob.split_first() else { return label.is_empty() };
    let run = |kind: fn(&u8) -> bool| label.iter().take_while(|byte| kind(byte)).count();
    let taken = match first {
        b'+' => run(u8::is_ascii_alphabetic),
        b'#' => run(u8::is_ascii_digit),
        byte => usize::from(label.first().is_some_and(|known| known.eq_ignore_ascii_case(byte))),
    };
    taken > 0 && matches_label(glob, &label[taken..])
}
