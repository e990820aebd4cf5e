// SPDX-License-Identifier: MIT
// Threads of Java that want one monitor, which is a lock of the virtual machine.
//     java Monitor.java THREADS SECONDS shared|own
// Prints `updates/s: N`.
class Monitor {
    static final class Account {
        private final byte[] history = new byte[4000];
        private long digest;

        synchronized void update() {
            for (byte entry : history)
                digest = (digest ^ entry) * 0x100000001b3L;
        }
    }

    public static void main(String[] words) throws InterruptedException {
        int number = Integer.parseInt(words[0]);
        double seconds = Double.parseDouble(words[1]);
        boolean own = words[2].equals("own");
        Account shared = new Account();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        long[] updates = new long[number * 16];
        Thread[] threads = new Thread[number];
        for (int i = 0; i < number; i++) {
            Account account = own ? new Account() : shared;
            int mine = i * 16;
            threads[i] = new Thread(() -> {
                while (System.nanoTime() < end) {
                    account.update();
                    updates[mine]++;
                }
            });
            threads[i].start();
        }
        long sum = 0;
        for (int i = 0; i < number; i++) {
            threads[i].join();
            sum += updates[i * 16];
        }
        System.out.printf("updates/s: %.0f%n", sum / seconds);
    }
}
