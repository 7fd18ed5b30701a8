import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WaitingTasksTests {
    private struct State {
        var tasks = WaitingTasks()
        var isOpen = false
        var checks = 0
    }

    private func waiting(_ count: Int, on state: Protected<State>) async -> [Task<Void, Never>] {
        let tasks = (0..<count).map { _ in
            Task {
                while !Task.isCancelled, !state.value.isOpen {
                    await state.wait(in: \.tasks) { state in
                        state.checks += 1
                        return state.isOpen
                    }
                }
            }
        }
        #expect(await comesTrue { state.value.checks >= count })
        return tasks
    }

    @Test("a cancellation ends the wait of its task only")
    func cancellation() async {
        let state = Protected(State())
        let tasks = await waiting(500, on: state)
        for task in tasks.shuffled() {
            task.cancel()
            await task.value
        }
        #expect(state.value.checks <= 2 * tasks.count && state.value.tasks.isEmpty)
    }

    @Test("the tasks that are not canceled wait in their order")
    func order() async {
        let state = Protected(State())
        let order = Deliveries<Int>()
        var tasks: [Task<Void, Never>] = []
        for number in 0..<4 {
            tasks.append(
                Task {
                    await state.wait(in: \.tasks) { state in
                        state.checks += 1
                        return state.isOpen
                    }
                    if !Task.isCancelled { order.add(number) }
                })
            #expect(await comesTrue { state.value.checks == number + 1 })
        }
        for index in [0, 2] {
            tasks[index].cancel()
            await tasks[index].value
        }
        for index in [1, 3] {
            state.withLock { $0.tasks.takeFirst() }?.resume()
            await tasks[index].value
        }
        #expect(order.all == [1, 3] && state.value.tasks.isEmpty)
    }
}
