/**
 * Relations over values, computed exactly for the values of a configuration: numbers of any size, addresses and
 * CIDR blocks, hardware addresses, patterns, versions, quantities.
 *
 * To Alloy this is a signature with fields like any other. A value that is not of the kind that a relation is
 * about (a word that is no number) is in none of its tuples, so every predicate is false for it.
 * The fields have names of their own (`rel_less`) so that the predicates can have the plain ones.
 */
module values

one sig Computed {
  rel_less: univ -> univ,
  rel_smaller_magnitude: univ -> univ,
  rel_negative: set univ,
  rel_number: set univ,
  rel_modulo: univ -> univ -> univ,
  rel_address: set univ,
  rel_cidr: set univ,
  rel_host_bits: set univ,
  rel_v4: set univ,
  rel_v6: set univ,
  rel_contains: univ -> univ,
  rel_overlaps: univ -> univ,
  rel_precedes: univ -> univ,
  rel_network_address: univ -> univ,
  rel_broadcast_address: univ -> univ,
  rel_matches: univ -> univ,
  rel_finds: univ -> univ,
  rel_older: univ -> univ,
  rel_less_quantity: univ -> univ,
  rel_same_quantity: univ -> univ,
  rel_less_bytes: univ -> univ,
  rel_less_duration: univ -> univ,
  rel_written_before: univ -> univ,
  rel_empty_text: set univ,
  rel_address_of: univ -> univ,
  rel_mac_of: univ -> univ,
  rel_length_of: univ -> univ,
  rel_prefix_length_of: univ -> univ,
  rel_ip_version_of: univ -> univ,
  rel_lower_case_of: univ -> univ,
  rel_block_of: univ -> univ,
  rel_first_host_of: univ -> univ,
  rel_name_of: univ -> univ,
  rel_entry: univ -> univ -> univ
}

/** Some number of the first set is less than some of the second. */
pred less[a, b: set univ] { some a.(Computed.rel_less) & b }

/** The same without regard to signs. */
pred smaller_magnitude[a, b: set univ] { some a.(Computed.rel_smaller_magnitude) & b }

/** Some number is below zero. */
pred negative[a: set univ] { some a & Computed.rel_negative }

/** Some value is a number, or the text of one. */
pred number[a: set univ] { some a & Computed.rel_number }

/** The remainder of a value by a step is the offset. */
pred modulo[value, step, offset: set univ] { some step.(value.(Computed.rel_modulo)) & offset }

/** Some text is an address. */
pred address[a: set univ] { some a & Computed.rel_address }

/** Some text is a CIDR block. */
pred cidr[a: set univ] { some a & Computed.rel_cidr }

/** Some block is written with the address of a host: `10.0.0.5/24`. */
pred host_bits[a: set univ] { some a & Computed.rel_host_bits }

/** Some address or block is of IPv4. */
pred v4[a: set univ] { some a & Computed.rel_v4 }

/** Some address or block is of IPv6. */
pred v6[a: set univ] { some a & Computed.rel_v6 }

/** Some block contains some address, or all of some block. */
pred contains[block, a: set univ] { some block.(Computed.rel_contains) & a }

/** Some block shares an address with some other. */
pred overlaps[a, b: set univ] { some a.(Computed.rel_overlaps) & b }

/** Some address comes before some other. */
pred precedes[a, b: set univ] { some a.(Computed.rel_precedes) & b }

/** Some address is that of the network, which hosts may not use. */
pred network_address[block, a: set univ] { some block.(Computed.rel_network_address) & a }

/** Some address is the broadcast address of some block. */
pred broadcast_address[block, a: set univ] { some block.(Computed.rel_broadcast_address) & a }

/** Some text matches some pattern as a whole. */
pred matches[text, pattern: set univ] { some text.(Computed.rel_matches) & pattern }

/** Some text has a part that matches some pattern. */
pred finds[text, pattern: set univ] { some text.(Computed.rel_finds) & pattern }

/** Some semantic version is older than some other. */
pred older[a, b: set univ] { some a.(Computed.rel_older) & b }

/** Some quantity of Kubernetes, such as `250m` or `1.5Gi`, is less than some other. */
pred less_quantity[a, b: set univ] { some a.(Computed.rel_less_quantity) & b }

/** Some quantity is equal to some other, in whatever units: `1000m` and `1`. */
pred same_quantity[a, b: set univ] { some a.(Computed.rel_same_quantity) & b }

/** Some byte size, such as `512m`, is less than some other; a number is one of bytes. */
pred less_bytes[a, b: set univ] { some a.(Computed.rel_less_bytes) & b }

/** Some duration, such as `1m30s`, is shorter than some other; a number is one of nanoseconds. */
pred less_duration[a, b: set univ] { some a.(Computed.rel_less_duration) & b }

/** Something is written before something else. */
pred written_before[a, b: set univ] { some a.(Computed.rel_written_before) & b }

/** Some text is empty. */
pred empty_text[a: set univ] { some a & Computed.rel_empty_text }

/** Some map has a value under a key. */
pred entry[map, key, value: set univ] { some key.(map.(Computed.rel_entry)) & value }

/** Something is called by some word. */
pred named[a, word: set univ] { some a.(Computed.rel_name_of) & word }

/** Addresses in one spelling. */
fun address_of[a: set univ]: set univ { a.(Computed.rel_address_of) }

/** Hardware addresses in one spelling. */
fun mac_of[a: set univ]: set univ { a.(Computed.rel_mac_of) }

/** Texts in lower case. */
fun lower_case_of[a: set univ]: set univ { a.(Computed.rel_lower_case_of) }

/** How many characters a text has, items a list, entries a map. */
fun length_of[a: set univ]: set univ { a.(Computed.rel_length_of) }

/** Blocks in one spelling, from their first address. */
fun block_of[a: set univ]: set univ { a.(Computed.rel_block_of) }

/** The lengths of the prefixes of blocks. */
fun prefix_length_of[a: set univ]: set univ { a.(Computed.rel_prefix_length_of) }

/** 4 or 6. */
fun ip_version_of[a: set univ]: set univ { a.(Computed.rel_ip_version_of) }

/** Where the gateway of a block is put by default. */
fun first_host_of[a: set univ]: set univ { a.(Computed.rel_first_host_of) }

/** What messages call something. */
fun name_of[a: set univ]: set univ { a.(Computed.rel_name_of) }
