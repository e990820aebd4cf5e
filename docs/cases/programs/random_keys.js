// SPDX-License-Identifier: MIT
// Makes 40,000 random keys of 64 bytes each in node's thread pool, 64 requests at a time.
//     node random_keys.js [KEYS_PER_REQUEST]
const crypto = require("crypto");
const KEYS = 40000, BYTES = 64, PENDING = 64;
const batch = Number(process.argv[2] || 1);
const keys = [];
let requested = 0, pending = 0;

function fill() {
  while (pending < PENDING && requested < KEYS) {
    requested += batch;
    pending++;
    crypto.randomBytes(BYTES * batch, (error, bytes) => {
      if (error) throw error;
      for (let i = 0; i < batch; i++) keys.push(bytes.subarray(i * BYTES, (i + 1) * BYTES));
      pending--;
      fill();
    });
  }
}

fill();
process.on("exit", () => console.log(`${keys.length} keys`));
