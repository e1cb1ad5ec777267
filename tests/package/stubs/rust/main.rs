//! A program of two crates: answers the queries of each on its standard input, a line each.
use std::io::BufRead;

fn bits<const N: usize>(line: &str) -> [f32; N] {
    let mut x = [0.0; N];
    for (value, word) in x.iter_mut().zip(line.split(' ')) {
        *value = f32::from_bits(u32::from_str_radix(word, 16).unwrap());
    }
    x
}

static EMPTY: iris::Workspace = iris::Workspace::new();

fn main() {
    let _ = &EMPTY;
    iris::self_test().unwrap();
    m_2::self_test().unwrap();
    let mut labels = iris::Workspace::new();
    let mut values = m_2::Workspace::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        if line.split(' ').count() == iris::N_FEATURES {
            let a = labels.classify(&bits(&line)).unwrap();
            assert_eq!(a.class_name(), iris::CLASS_NAMES[a.label as usize]);
            print!("{} {:08x} {:08x} ", a.label, a.lower.to_bits(), a.upper.to_bits());
            print!("{} {} ", a.kernel_evals, a.stage);
            println!("{} {}", u8::from(a.certified), u8::from(a.in_range));
        } else {
            let a = values.predict(&bits(&line)).unwrap();
            print!("{:08x} {:08x} ", a.value.to_bits(), a.lower.to_bits());
            print!("{:08x} {} {} ", a.upper.to_bits(), a.kernel_evals, a.stage);
            println!("{}", u8::from(a.in_range));
        }
    }
}
